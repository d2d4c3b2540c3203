// A random play of a migration: users and operators act in any order, processes are killed, responses are lost, writes come late
// or early, collections are damaged, actions are left to a person or falsely reported as done, and the store drops writes that
// it confirmed.
import type { HookRequest } from '../../../lib/migration/ports/hooks.ts';
import { Refusal, RetryableFailure } from '../../../lib/migration/refusals.ts';
import type { StepInput } from '../../../lib/migration/runs/input.ts';
import { readJournal } from '../../../lib/migration/runs/journal.ts';
import { liveCollectionOf, testUserOf } from '../../../lib/migration/runs/run-names.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { confirmAction } from '../../../lib/migration/steps/backend-actions.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { type Call, watchCalls } from './calls.ts';
import { Killed } from './killable-services.ts';
import { RUN, type StepName } from './migration.ts';
import { createPlayUsers, type Damage, type Service, type Write } from './play-users.ts';
import { createMigrationAt } from './prepared.ts';
import { LEASE_MS } from './run-table.ts';

/** So many memories that a step notices an emptied collection, instead of taking the missing ones for users' deletions */
const WORLD = { memories: 30, users: 2, dimensions: 4 };
/** Largest batch that the store accepts, and so the size of a page: a walk over a collection reads several pages. */
const MAX_BATCH_SIZE = 8;
/** Ways to migrate, each with its plan and its world */
const WAYS = {
  'new collection': { plan: { removesWhenOver: true }, world: {} },
  upload: { plan: { removesWhenOver: true, uploadAs: 'uploaded' }, world: {} },
  'in place': { plan: { inPlace: true }, world: { isInPlace: true } },
} as const;

export type Way = keyof typeof WAYS;

const MOMENTS = ['begin', 'freeze', 'walk', 'deploy', 'prove', 'open', 'store'] as const;
/** The last call in the proof that the new version works */
const LAST_PROOF_CALL = 'backend.isGraphDeprecated';
const MAX_ROLLBACKS = 12;

/**
 * The point from which an incident counts remote calls. `begin` is the start of the command. `freeze`, `deploy` and `open` are
 * requests for an action of the operator, with the request as call 0. `walk` is the first read of the new collection, as call 1.
 * `prove` is the last call of the proof. `store` is the latest write of memories, with the write as call 1: an incident at 0
 * falls between the write and the read before it.
 */
export type Moment = (typeof MOMENTS)[number];

/**
 * An event that happens once, right after the remote call with that number, counted from the moment. After `time up` the function
 * has no time left, and the command is invoked again.
 */
export type Incident = {
  readonly since: Moment;
  readonly calls: number;
} & (
  | { readonly kind: 'killed' | 'answer lost' | 'time up' }
  /** `not done`: the operator reports the next action without doing it. `dropped`: the store confirms a write that it drops. */
  | { readonly kind: 'not done' | 'dropped' }
  /** The webhook does not perform the next action: a person has to do and confirm it. */
  | { readonly kind: 'by hand' }
  | { readonly kind: 'damaged'; readonly damage: Exclude<Damage, 'deleted'> }
  | { readonly kind: 'write'; readonly write: Write }
);

interface Invocation {
  readonly step: StepName;
  readonly input?: Partial<StepInput>;
  /** The operator leaves the writes since the switch behind. */
  readonly leavesBehind?: true;
}

/** Larger than any number of memories */
const ANY_NUMBER = 999;
const LEFT_BEHIND = { step: 'rollback', leavesBehind: true } as const;

/** Commands that an operator or a machine can enter */
const COMMANDS = {
  backup: { step: 'backup' },
  rebuild: { step: 'rebuild' },
  copy: { step: 'copy' },
  'copy with deletions': { step: 'copy', input: { deletes: ANY_NUMBER } },
  cutover: { step: 'cutover' },
  'cutover with deletions': { step: 'cutover', input: { deletes: ANY_NUMBER } },
  rollback: { step: 'rollback' },
  'rollback with deletions': { step: 'rollback', input: { deletes: ANY_NUMBER } },
  'rollback as it was': { ...LEFT_BEHIND, input: { asItWas: true } },
  'rollback to the snapshot': {
    ...LEFT_BEHIND,
    input: { toSnapshot: true, acknowledgedLoss: ANY_NUMBER },
  },
  'roll back by machine': { step: 'rollback', input: { actor: 'machine' } },
  retention: { step: 'retention' },
  abort: { step: 'abort' },
} as const satisfies Readonly<Record<string, Invocation>>;

/** `confirm undone`: the person confirms an action without doing it. */
const CONFIRMATIONS = ['confirm', 'confirm undone'] as const;
type Confirmation = (typeof CONFIRMATIONS)[number];

export type PlayCommand = keyof typeof COMMANDS | Confirmation;

export type Act =
  | { readonly act: 'write'; readonly write: Write }
  | { readonly act: 'damage'; readonly where: 'standby' | 'active'; readonly damage: Damage }
  | { readonly act: 'wait'; readonly minutes: number }
  | {
      readonly act: 'command';
      readonly command: PlayCommand;
      readonly incidents: readonly Incident[];
    };

export type Play = Awaited<ReturnType<typeof startPlay>>;

export async function startPlay(way: Way = 'new collection') {
  const { plan, world } = WAYS[way];
  const migration = await createMigrationAt('copied', { ...WORLD, ...world }, plan);
  const { vectors, setting } = migration.services;
  const newCollection = migration.target;
  const live = liveCollectionOf(await migration.runs.read(RUN));
  const isInPlace = live === SOURCE;
  const service: Service = {
    worksOn: SOURCE,
    wasOpenOn: SOURCE,
    isOnNew: false,
    wasOpenOnNew: false,
    isFrozen: false,
    isDeploying: false,
  };
  /** True while a rollback that leaves writes behind has not opened them again */
  let leavesBehind = false;
  const diary = [`${way}: copied`];
  const faults: string[] = [];
  const users = await createPlayUsers(migration, { service, live, diary });
  const strict_mode_config = { enabled: true, upsert_max_batchsize: MAX_BATCH_SIZE };
  for (const name of new Set([SOURCE, isInPlace ? SOURCE : newCollection])) {
    await vectors.updateCollection(name, { strict_mode_config });
  }
  const calls: Record<Moment, number> = {
    begin: 0,
    freeze: 0,
    walk: 0,
    deploy: 0,
    prove: 0,
    open: 0,
    store: 0,
  };
  /** Faults that the next action and the next write to the store will have */
  const pendingFaults = { skipsAction: false, dropsWrite: false, asksPerson: false };
  /** The request that a person has to carry out, however often the webhook is asked again. */
  let pendingRequest: HookRequest | undefined;
  let isTimeUp = false;
  /** True once the final check of this command has read the new collection: later damage goes unnoticed until writes open. */
  let isChecked = false;

  async function ask(request: HookRequest) {
    const isAsked =
      pendingRequest?.action === request.action && pendingRequest.occasion === request.occasion;
    if (isAsked) return 'asked-of-a-person';
    if (!pendingFaults.asksPerson) return await carryOut(request);
    diary.push(`${request.action} is asked of a person`);
    pendingFaults.asksPerson = false;
    pendingRequest = request;
    return 'asked-of-a-person';
  }

  /** Performs an action as the operator would, and records its effect on users. */
  async function carryOut(request: HookRequest) {
    const { action, collection } = request;
    if (action === 'deploy-new' || action === 'deploy-old') await checkDeployed(collection);
    if (pendingFaults.skipsAction && action !== 'open-writes') {
      pendingFaults.skipsAction = false;
      diary.push(`${action} is not done`);
      return 'done';
    }
    const answer = await migration.services.hooks.ask(request);
    if (action === 'freeze') service.isFrozen = true;
    if (action === 'deploy-new' || action === 'deploy-old') {
      const isOnNew = action === 'deploy-new';
      Object.assign(service, { isDeploying: true, worksOn: collection, isOnNew });
    }
    if (action === 'open-writes') await openWrites();
    return answer;
  }

  async function checkDeployed(collection: string): Promise<void> {
    const { phase } = await migration.runs.read(RUN);
    if (phase === 'switching' && !service.isFrozen)
      faults.push('a version is deployed while users write');
    const active = await setting.read();
    if (active !== collection) faults.push(`the version for ${collection} starts on ${active}`);
  }

  async function openWrites(): Promise<void> {
    const { worksOn, isOnNew } = service;
    if (leavesBehind && !isOnNew) await users.leaveBehind(worksOn);
    leavesBehind = false;
    faults.push(...(await users.checkServed(worksOn)));
    const wasOpenOnNew = service.wasOpenOnNew || isOnNew;
    Object.assign(service, {
      isFrozen: false,
      isDeploying: false,
      wasOpenOn: worksOn,
      wasOpenOnNew,
    });
  }

  function createServices(incidents: readonly Incident[]): Services {
    let isKilled = false;
    const pending = new Set(incidents);
    isChecked = false;
    for (const moment of MOMENTS) calls[moment] = moment === 'begin' ? 0 : Number.NaN;
    const triggerDue = async (call: Call) => {
      for (const incident of pending) {
        if (!(calls[incident.since] >= incident.calls)) continue;
        if (incident.kind === 'answer lost' && call.isRead) continue;
        pending.delete(incident);
        if (incident.kind === 'killed') isKilled = true;
        await trigger(incident, call);
      }
    };
    const before = () => {
      if (isKilled) throw new Killed();
    };
    const after = async (call: Call) => {
      for (const moment of MOMENTS) calls[moment] += 1;
      if (call.name === LAST_PROOF_CALL && calls.deploy > 0) calls.prove = 0;
      await triggerDue(call);
    };
    const askHooks = async (request: HookRequest) => {
      const moment = MOMENTS.find((name) => request.action.startsWith(name));
      if (moment) calls[moment] = 0;
      await triggerDue({ number: 0, name: `hooks.ask of ${request.action}`, isRead: true });
      return await ask(request);
    };
    const beforeStoreWrite = async () => {
      calls.store = 0;
      await triggerDue({ number: 0, name: 'the read before a write', isRead: true });
    };
    const store = watchStore(beforeStoreWrite);
    const services = { ...migration.services, vectors: store, hooks: { ask: askHooks } };
    return watchCalls(services, { before, after });
  }

  async function trigger(incident: Incident, { name }: Call): Promise<void> {
    if (incident.kind === 'write') return await users.write(incident.write);
    if (incident.kind === 'damaged') return await damageTarget(incident.damage);
    if (incident.kind === 'time up') {
      diary.push(`time is up after ${name}`);
      isTimeUp = true;
    }
    if (incident.kind === 'not done') pendingFaults.skipsAction = true;
    if (incident.kind === 'dropped') pendingFaults.dropsWrite = true;
    if (incident.kind === 'by hand') pendingFaults.asksPerson = true;
    if (incident.kind === 'killed') {
      diary.push(`killed after ${name}`);
      throw new Killed();
    }
    if (incident.kind === 'answer lost') {
      diary.push(`answer to ${name} lost`);
      throw new RetryableFailure('RetryableUnavailable', `The answer to ${name} is lost.`);
    }
  }

  /** Returns a store that can drop a write that it confirms. It also records when the final check has read the new collection. */
  function watchStore(onWrite: () => Promise<void>): Services['vectors'] {
    const unlessDropped =
      <Args extends readonly unknown[]>(write: (...args: Args) => Promise<void>) =>
      async (...args: Args) => {
        if (JSON.stringify(args).includes(testUserOf(RUN))) return await write(...args);
        await onWrite();
        if (!pendingFaults.dropsWrite) return await write(...args);
        pendingFaults.dropsWrite = false;
        diary.push('a write is dropped');
      };
    const { scroll, upsert, updateVectors, deletePoints } = vectors;
    return {
      ...vectors,
      scroll: async (collection, request) => {
        const isNew = collection === newCollection || collection === live;
        if (isNew && Number.isNaN(calls.walk)) calls.walk = 0;
        const page = await scroll(collection, request);
        if (isNew) isChecked ||= await isInFinalCheck();
        return page;
      },
      upsert: unlessDropped(upsert),
      updateVectors: unlessDropped(updateVectors),
      deletePoints: unlessDropped(deletePoints),
    };
  }

  async function isInFinalCheck(): Promise<boolean> {
    const { passed = {} } = (await readJournal(migration.services, RUN, 'cutover')) ?? {};
    return 'proved' in passed && !('last-look' in passed);
  }

  async function command({ command, incidents }: Extract<Act, { act: 'command' }>): Promise<void> {
    if (isConfirmation(command)) return await confirm(command);
    const { step: name, input = {}, ...accepted }: Invocation = COMMANDS[command];
    if (accepted.leavesBehind) leavesBehind = true;
    if (input.deletes !== undefined) users.acceptDeletions();
    const outcome = await finish(name, input, createServices(incidents)).catch(describeFailure);
    diary.push(`${command}: ${outcome}`);
    const { phase } = await migration.runs.read(RUN);
    leavesBehind &&= phase === 'switching-back';
    Object.assign(pendingFaults, { skipsAction: false, dropsWrite: false, asksPerson: false });
    if (name === 'cutover' && outcome.startsWith('Refused')) await checkRollsBack(outcome);
    // Lets a killed process's lease expire.
    migration.advanceClock(LEASE_MS);
  }

  /** Repeats the step until it is done, or waits for a person. An incident can end the time of an invocation. */
  async function finish(
    name: StepName,
    input: Partial<StepInput>,
    services: Services,
  ): Promise<string> {
    for (;;) {
      isTimeUp = false;
      const result = await migration.invoke(name, input, services, () => (isTimeUp ? 0 : 600_000));
      if (result.dryRun || result.done) return 'done';
      if (result.needsPerson && !(await isConfirmed())) return 'waits for a person';
      migration.advanceClock(result.waitSeconds * 1_000);
    }
  }

  async function isConfirmed(): Promise<boolean> {
    const { runs } = migration.services;
    return (await runs.confirmedBy(await runs.read(RUN))) !== undefined;
  }

  /** Confirms the pending action, or one that is not pending, which is refused. Opening writes is always done before it is confirmed. */
  async function confirm(command: Confirmation): Promise<void> {
    const { pendingAction } = await migration.runs.read(RUN);
    const { action = 'open-writes' } = pendingAction ?? {};
    const isDone = command === 'confirm' || action === 'open-writes';
    if (pendingAction && pendingRequest && isDone && !(await isConfirmed()))
      await carryOut(pendingRequest);
    const payload = { runId: RUN, action, confirmedBy: 'ada' };
    const outcome = await confirmAction(migration.services, payload).then(
      () => `${isDone ? 'done' : 'not done'}, ${action}`,
      describeFailure,
    );
    diary.push(`${command}: ${outcome}`);
  }

  /** A window that failed must already be rolling back, without an operator. */
  async function checkRollsBack(outcome: string): Promise<void> {
    const { phase, window } = await migration.runs.read(RUN);
    const mayStayOpen =
      window?.openedAt !== undefined || outcome.startsWith('RefusedNothingToReturnTo');
    if (phase === 'switching' && !mayStayOpen)
      faults.push(`the window does not roll back after ${outcome}`);
  }

  async function perform(act: Act): Promise<void> {
    if (act.act === 'write') return await users.write(act.write);
    if (act.act === 'command') return await command(act);
    if (act.act === 'damage') return await damage(act);
    diary.push(`${act.minutes} minutes pass`);
    migration.advanceClock(act.minutes * 60_000);
  }

  /**
   * Damages a collection if the run can recover from it. Only the old collection may be deleted, and only while users are on the
   * new one, because it can be restored from its snapshot. The active collection is damaged only if it is the new one.
   */
  async function damage({ where, damage }: Extract<Act, { act: 'damage' }>): Promise<void> {
    const { worksOn, isFrozen, isOnNew } = service;
    // In place, the one collection can be recovered only by losing the writes since its snapshot.
    if (isInPlace) return;
    const standby = isOnNew ? SOURCE : newCollection;
    if (isFrozen || (damage === 'deleted' && (where === 'active' || !isOnNew))) return;
    if (where === 'standby') return await users.damage(standby, worksOn, damage);
    if (isOnNew) await users.damage(worksOn, standby, damage);
  }

  /** Damages the new collection in a window, but not after the final check, because no step could notice it in time. */
  async function damageTarget(damage: Damage): Promise<void> {
    const { phase, window } = await migration.runs.read(RUN);
    if (isInPlace || phase !== 'switching' || isChecked || window?.openedAt !== undefined) return;
    await users.damage(
      (await vectors.collectionExists(live)) ? live : newCollection,
      SOURCE,
      damage,
    );
  }

  /** Rolls back if the run is switching, as the state machine would. */
  async function endSwitch(): Promise<void> {
    pendingRequest = undefined;
    for (let tries = 0; tries < MAX_ROLLBACKS; tries += 1) {
      const { phase } = await migration.runs.read(RUN);
      if (phase !== 'switching' && phase !== 'switching-back') return;
      await command({ act: 'command', command: 'roll back by machine', incidents: [] });
      if ((await migration.runs.read(RUN)).phase === phase) migration.advanceClock(10 * 60_000);
    }
  }

  /** @returns the faults that remain at the end of the play */
  async function verify(): Promise<string[]> {
    const { phase } = await migration.runs.read(RUN);
    if (service.isFrozen) faults.push(`writes are frozen, and the run is ${phase}`);
    if ((await setting.read()) !== service.worksOn) {
      faults.push(`the setting is ${await setting.read()}, and users are on ${service.worksOn}`);
    }
    return [...faults, ...(await users.checkKept(phase === 'closed'))];
  }

  return { perform, endSwitch, verify, diary };
}

function isConfirmation(command: PlayCommand): command is Confirmation {
  return CONFIRMATIONS.some((name) => name === command);
}

/** @throws any failure other than a refusal, an outage or a kill */
function describeFailure(error: unknown): string {
  if (error instanceof Killed || error instanceof RetryableFailure) return error.name;
  if (error instanceof Refusal && error.name !== 'RefusedDefect')
    return `${error.name}: ${error.why}`;
  throw error;
}
