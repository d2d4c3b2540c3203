// A play of a migration: users and operators act in any order, processes are killed, answers are lost, writes come late or
// early. The truth is what was acknowledged, and no step of the migration sees it.
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import type { HookRequest } from '../../../lib/migration/ports/hooks.ts';
import { Refusal, RetryableFailure } from '../../../lib/migration/refusals.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { startNewVersion } from '../../../sandbox/memory-backend/new-version.ts';
import { startOldVersion } from '../../../sandbox/memory-backend/old-version.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { type Call, watchCalls } from './calls.ts';
import { emptied } from './holdings.ts';
import { RUN } from './migration.ts';
import { Killed } from './mortal.ts';
import { migrationAt } from './prepared.ts';
import { LEASE_MS } from './run-table.ts';

/** More memories than a step may take for deletions of users: an emptied collection is seen. */
const WORLD = { memories: 30, users: 2, dimensions: 4 };
const USER = 'user-1';
const MOMENTS = ['begin', 'freeze', 'deploy'] as const;
const MAX_SETTLING_COMMANDS = 12;

export type Change = 'create' | 'change' | 'delete';

/**
 * `user`: through the deployed version, while writes are open. `late`: begun before the freeze, arrives in it. `early`: reaches
 * the version that is being deployed, before it opened. `forgotten`: a program that never left the old collection.
 */
export type Writer = 'user' | 'late' | 'early' | 'forgotten';

export interface Write {
  readonly writer: Writer;
  readonly change: Change;
}

/** The beginning of a command, or an action of the operator in it. */
export type Moment = (typeof MOMENTS)[number];

/** Happens once, right after a remote call: the nth since the moment. */
export type Incident = { readonly since: Moment; readonly calls: number } & (
  | { readonly kind: 'killed' | 'answer lost' | 'emptied' }
  | { readonly kind: 'write'; readonly write: Write }
);

export type Act =
  | { readonly act: 'write'; readonly write: Write }
  | { readonly act: 'empty the standby' }
  | { readonly act: 'wait'; readonly minutes: number }
  | {
      readonly act: 'command';
      readonly command: 'copy' | 'cutover' | 'rollback' | 'roll back by machine';
      readonly incidents: readonly Incident[];
    };

interface Memory {
  /** Null once it was deleted. */
  readonly text: string | null;
  /** The last writer: a write past a freeze may be kept in a report instead of in the collection. */
  readonly writer: Writer;
}

/** The version and collection that users are on after the operator's actions. */
interface Service {
  worksOn: string;
  /** The collection on which writes were open last. */
  wasOpenOn: string;
  isFrozen: boolean;
  deploys: boolean;
}

export type Play = Awaited<ReturnType<typeof startPlay>>;

export async function startPlay() {
  const migration = await migrationAt('copied', WORLD);
  const { vectors, setting } = migration.services;
  const service: Service = { worksOn: SOURCE, wasOpenOn: SOURCE, isFrozen: false, deploys: false };
  const truth = new Map<string, Memory>();
  const calls: Record<Moment, number> = { begin: 0, freeze: 0, deploy: 0 };
  const faults: string[] = [];
  const diary: string[] = [];
  let texts = 0;
  for (const [id, text] of await read(SOURCE)) truth.set(id, { text, writer: 'user' });

  /** Ids and texts of users' memories. */
  async function read(collection: string): Promise<Map<string, string>> {
    if (!(await vectors.collectionExists(collection))) return new Map();
    const { points } = await vectors.scroll(collection, { limit: 1_000, vector: false });
    const memories = points.map(({ id, payload }) => ({ id, ...JSON.parse(payload) }));
    const ofUsers = memories.filter(({ user_id }) => !String(user_id).startsWith('__migration'));
    return new Map(ofUsers.map(({ id, data }) => [String(JSON.parse(id)), String(data)]));
  }

  function findPlace({ writer }: Write): string | undefined {
    const { isFrozen, deploys, worksOn, wasOpenOn } = service;
    if (writer === 'user') return isFrozen ? undefined : worksOn;
    if (writer === 'late') return isFrozen ? wasOpenOn : undefined;
    if (writer === 'early') return isFrozen && deploys ? worksOn : undefined;
    return worksOn === SOURCE ? undefined : SOURCE;
  }

  /** Acknowledged when it returns. A write that its writer cannot make now does not happen. */
  async function write(one: Write): Promise<void> {
    const collection = findPlace(one);
    if (collection === undefined || !(await vectors.collectionExists(collection))) return;
    const [id, text] = await apply(one.change, collection);
    if (id === undefined) return;
    diary.push(`${one.writer} ${one.change} ${id} in ${collection}`);
    truth.set(id, { text, writer: one.writer });
  }

  async function apply(
    change: Change,
    collection: string,
  ): Promise<[id: string | undefined, text: string | null]> {
    texts += 1;
    const text = `Memory ${texts} of the play`;
    if (change === 'create') {
      const settings = { store: vectors, collection, dimensions: 4, now: migration.clock };
      const start = collection === SOURCE ? startOldVersion : startNewVersion;
      const [id] = await (await start(settings)).add(USER, text);
      return [id, text];
    }
    const { points } = await vectors.scroll(collection, { limit: 1_000 });
    const point = points.find(({ payload }) => JSON.parse(payload).user_id === USER);
    if (!point) return [undefined, null];
    const id = String(JSON.parse(point.id));
    if (change === 'delete') {
      await vectors.deletePoints(collection, { ids: [point.id] });
      return [id, null];
    }
    const updated_at = migration.clock().toISOString();
    const payload = { ...JSON.parse(point.payload), data: text, updated_at };
    const { vector = asJsonText('[]') } = point;
    const changed = asJsonText<Record<string, unknown>>(JSON.stringify(payload));
    await vectors.upsert(collection, [{ id: point.id, vector, payload: changed }], 'upsert');
    return [id, text];
  }

  /** The operator's side: what users notice of each action. */
  async function ask(request: HookRequest) {
    const { action, collection } = request;
    const answer = await migration.services.hooks.ask(request);
    if (action === 'freeze') {
      service.isFrozen = true;
      calls.freeze = 0;
    }
    if (action === 'deploy-new' || action === 'deploy-old') {
      Object.assign(service, { deploys: true, worksOn: collection });
      calls.deploy = 0;
    }
    if (action === 'open-writes') {
      await checkServed(service.worksOn);
      Object.assign(service, { isFrozen: false, deploys: false, wasOpenOn: service.worksOn });
    }
    return answer;
  }

  /** Users are served from a complete collection: what was written in time is there when writes open. */
  async function checkServed(collection: string): Promise<void> {
    const found = await read(collection);
    for (const [id, { text, writer }] of truth) {
      if (writer !== 'user' || (found.get(id) ?? null) === text) continue;
      faults.push(`served from ${collection}: ${id} is "${found.get(id)}" instead of "${text}"`);
    }
  }

  function services(incidents: readonly Incident[]): Services {
    let isDead = false;
    const ahead = new Set(incidents);
    Object.assign(calls, { begin: 0, freeze: Number.NaN, deploy: Number.NaN });
    const before = () => {
      if (isDead) throw new Killed();
    };
    const after = async ({ isRead, name }: Call) => {
      for (const moment of MOMENTS) calls[moment] += 1;
      for (const incident of ahead) {
        if (calls[incident.since] < incident.calls || Number.isNaN(calls[incident.since])) continue;
        if (incident.kind === 'answer lost' && isRead) continue;
        ahead.delete(incident);
        if (incident.kind === 'write') await write(incident.write);
        if (incident.kind === 'emptied') await emptyTarget();
        if (incident.kind === 'killed') {
          diary.push(`killed after ${name}`);
          isDead = true;
          throw new Killed();
        }
        if (incident.kind === 'answer lost') {
          diary.push(`answer to ${name} lost`);
          throw new RetryableFailure('RetryableUnavailable', `The answer to ${name} is lost.`);
        }
      }
    };
    return watchCalls({ ...migration.services, hooks: { ask } }, { before, after });
  }

  async function command(act: Extract<Act, { act: 'command' }>): Promise<void> {
    const { command, incidents } = act;
    const isMachine = command === 'roll back by machine';
    const name = isMachine ? 'rollback' : command;
    const input = isMachine ? ({ actor: 'machine' } as const) : {};
    const end = await migration.finish(name, input, services(incidents)).then(
      () => 'done',
      (error: unknown) => {
        if (error instanceof Killed || error instanceof RetryableFailure) return error.name;
        if (error instanceof Refusal && error.name !== 'RefusedDefect') {
          return `${error.name}: ${error.why}`;
        }
        throw error;
      },
    );
    diary.push(`${command}: ${end}`);
    // The lease of a killed process runs out.
    migration.pass(LEASE_MS);
  }

  async function perform(act: Act): Promise<void> {
    if (act.act === 'write') return await write(act.write);
    if (act.act === 'command') return await command(act);
    if (act.act === 'wait') {
      diary.push(`${act.minutes} minutes pass`);
      return migration.pass(act.minutes * 60_000);
    }
    await emptyStandby();
  }

  async function emptyStandby(): Promise<void> {
    const standby = service.worksOn === SOURCE ? migration.target : SOURCE;
    if (!service.isFrozen) await empty(standby, service.worksOn);
  }

  /** In a window, up to the final check: after it nothing could be noticed in time. */
  async function emptyTarget(): Promise<void> {
    const { phase, window } = await migration.runs.read(RUN);
    if (phase !== 'switching' || window?.openedAt !== undefined) return;
    await empty(migration.target, SOURCE);
  }

  /** No migration can know what only this collection had: it is lost with it. */
  async function empty(collection: string, other: string): Promise<void> {
    if (!(await vectors.collectionExists(collection))) return;
    const kept = await read(other);
    for (const [id, { text }] of truth) {
      if ((kept.get(id) ?? null) !== text) truth.delete(id);
    }
    diary.push(`${collection} is emptied`);
    await emptied(migration, collection);
  }

  /** Ends what has begun, as the state machine would: by a rollback, where the window is still open. */
  async function settle(): Promise<void> {
    for (let tries = 0; tries < MAX_SETTLING_COMMANDS; tries += 1) {
      const { phase } = await migration.runs.read(RUN);
      if (phase !== 'switching' && phase !== 'switching-back') return;
      const rollback = { act: 'command', command: 'roll back by machine', incidents: [] } as const;
      await command(rollback);
      if ((await migration.runs.read(RUN)).phase === phase) migration.pass(10 * 60_000);
    }
  }

  /** @returns what is wrong once everything has settled */
  async function verify(): Promise<string[]> {
    const { phase } = await migration.runs.read(RUN);
    if (service.isFrozen) faults.push(`writes are frozen, and the run is ${phase}`);
    if ((await setting.read()) !== service.worksOn) {
      faults.push(`the setting is ${await setting.read()}, and users are on ${service.worksOn}`);
    }
    const active = await read(service.worksOn);
    const kept = await Promise.all((await vectors.listCollections()).map(read));
    const reports = [...migration.artifacts.image().values()].map(({ content }) => String(content));
    for (const [id, { text, writer }] of truth) {
      if (text === null || active.get(id) === text) continue;
      if (reports.some((report) => report.includes(text))) continue;
      const isKept = kept.some((memories) => memories.get(id) === text);
      // The next switch carries over what a forgotten program writes.
      if (!isKept) faults.push(`lost: ${id} "${text}"`);
      else if (writer !== 'forgotten') faults.push(`left behind: ${id} "${text}" by ${writer}`);
    }
    return faults;
  }

  return { perform, settle, verify, diary };
}
