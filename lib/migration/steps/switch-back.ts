// The switch back to the old collection: a rollback's stages, and those of one that is refused before users have moved.
import * as v from 'valibot';
import { changedSetting } from '../ports/collection-setting.ts';
import { pendingIn } from '../reconcile-report.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { liveCollectionOf, liveCollectionsOf } from '../runs/run-names.ts';
import { MORE_TIME, passing, type Stage, within } from '../runs/stages.ts';
import { waiting } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { restoreSnapshot } from '../snapshots.ts';
import { removeTestWrites } from './clean-up.ts';
import { makeEqual, walksSchema } from './equality.ts';
import { isDoneOutside } from './external-action.ts';
import { proveOldVersion } from './old-version.ts';
import { assertRestored, assertStillThere, leftBehindBy } from './return-target.ts';
import {
  type Advance,
  carryBack,
  DEPLOYED,
  deploy,
  freeze,
  type SwitchState,
  strayFacts,
} from './switch.ts';
import { assertOpen } from './write-freeze.ts';

const RESTORE_CHECKED = 'restore-checked';
const FREEZING = 'freezing';

/** Writes may have been opened already, and are frozen again: what comes after the restored snapshot is due again. */
export function afterRestore({ to, passed, plan, restoring }: SwitchState): SwitchState {
  const stays = [RESTORE_CHECKED, FREEZING];
  return { to, passed: without(passed, (stage) => !stays.includes(stage)), plan, restoring };
}

function without(passed: SwitchState['passed'], isDue: (stage: string) => boolean) {
  return Object.fromEntries(Object.entries(passed).filter(([stage]) => !isDue(stage)));
}

/** Back to the old one. Where users were never let into the new one, nobody has to be kept out, and nothing comes along. */
export function stagesBackward(run: Run, { to, plan }: SwitchState): readonly Stage<SwitchState>[] {
  const wasOpened = run.window?.openedAt !== undefined;
  const when = (isNeeded: boolean, ...stages: Stage<SwitchState>[]) => (isNeeded ? stages : []);
  return [
    ...when(
      plan?.restores !== undefined,
      within('restoring', () => restoreSnapshot(to, plan?.restores)),
      passing(RESTORE_CHECKED, checkRestored),
    ),
    ...when(
      plan !== undefined,
      passing(FREEZING, async () => ({})),
    ),
    ...when(plan !== undefined, passing('frozen', freezeNew)),
    ...when(plan?.way === 'carry', passing('equal', makeOldEqual)),
    ...when(
      wasOpened && plan?.way !== 'carry' && to !== liveCollectionOf(run),
      passing('counted', countLeftBehind),
    ),
    ...when(plan !== undefined, passing('setting-changed', changeToOld)),
    ...when(plan !== undefined, passing(DEPLOYED, deploy('deploy-old'))),
    ...when(plan !== undefined, passing('proved', proveOld)),
    passing('opened', openOld),
    ...when(plan?.way === 'carry' || plan?.mayHaveLeaked === true, passing('carried', carryBack)),
  ];
}

/** Of a rollback that is refused before the setting changes. */
export function stagesOfStaying({ passed }: SwitchState): readonly Stage<SwitchState>[] {
  return FREEZING in passed ? [passing('opened-again', openAgain)] : [];
}

// Refused while nobody is kept from writing yet; what is written until then counts again once writes are frozen.
const checkRestored: Advance = async (context, state, inside) => {
  const { services, run } = context;
  await assertStillThere(context, state.to);
  await assertRestored(services, run, state.to);
  return state.plan?.way === 'to-snapshot' ? await countLeftBehind(context, state, inside) : {};
};

// docs/decisions/migration/0005-automatic-rollback.md: only where users were let in, somebody has to be kept out.
const freezeNew: Advance = async (context, state, inside) => {
  const collections = liveCollectionsOf(context.run);
  if (context.run.window?.openedAt !== undefined)
    return await freeze(collections)(context, state, inside);
  const isDone = await isDoneOutside(context, 'freeze', collections[0]);
  return isDone ? {} : waiting('the webhook');
};

// From here on nobody writes. Nobody decides on the rollback of a window, and so it never has to refuse.
const makeOldEqual: Advance = async (context, { to, plan }, { reached = {}, save }) => {
  await assertStillThere(context, to, 0);
  const { run, input } = context;
  const report = await makeEqual(context, {
    from: liveCollectionOf(run),
    to,
    deletes: input.deletes ?? plan?.deletes,
    mayInsertOnly: run.window?.retainUntil === undefined,
    usesBase: plan?.restores === undefined,
    reached: v.parse(walksSchema, reached),
    save,
  });
  if (!report) return MORE_TIME;
  const left = pendingIn(report).length > 0 ? { comparedByHand: liveCollectionOf(run) } : {};
  const { points } = report.to;
  return { points, ...left, ...strayFacts('lateWrites', report.strays) };
};

const countLeftBehind: Advance = async (context, { to, plan }) => {
  const isRestored = plan?.way === 'to-snapshot';
  const counted = await leftBehindBy(context, isRestored ? to : undefined);
  const { leftBehind } = counted;
  const limit = context.input.acknowledgedLoss ?? plan?.acknowledged ?? 0;
  if (!isRestored || leftBehind === 'unknown' || leftBehind <= limit) return counted;
  const writes = `${leftBehind} ${leftBehind === 1 ? 'write' : 'writes'}`;
  const why = `This rollback loses ${writes}; acknowledged: ${limit}.`;
  throw new Refusal('RefusedLossNotAcknowledged', why, { data: { loss: leftBehind } });
};

const changeToOld: Advance = async (context, { to, passed }) => {
  const { services, run, renew } = context;
  const { setting, log } = services;
  await removeTestWrites(context, [to]);
  await assertStillThere(context, to, pointsOf(passed));
  const present = await setting.read();
  // Nobody writes anywhere, and users wait: it is replaced, whatever it says.
  if (!isKnown(run, present) && present !== to) {
    const message = 'Somebody else changed the collection-name setting; rollback replaces it';
    log({ level: 'WARN', message, runId: run.runId, replaced: present, by: to });
  }
  await renew();
  await setting.change({ from: present, to });
  return {};
};

/** That the collection was left with; undefined where it was left as it was. */
function pointsOf({ equal }: SwitchState['passed']): number | undefined {
  return equal && Number(equal.facts.points);
}

const proveOld: Advance = async (context, { to, passed }, { reached, save, keep }) => {
  const unansweredSince = v.parse(v.optional(v.number()), reached);
  const proving = proveOldVersion(context, { collection: to, unansweredSince, save });
  const isProved = await proving.catch(async (error: unknown) => {
    // What was reported as done is asked for again.
    await keep({ passed: without(passed, (stage) => stage === DEPLOYED) });
    throw error;
  });
  return isProved ? {} : { oldVersion: 'unproved' };
};

// The new collection may be the only copy left: a write would create an empty one in the place of the old.
const openOld: Advance = async (context, { to, passed }) => {
  const expected = pointsOf(passed);
  await assertStillThere(context, to, expected);
  await context.renew();
  if (!(await isDoneOutside(context, 'open-writes', to))) return waiting('the webhook');
  await assertStillThere(context, to, expected);
  await assertOpen(context, [to]);
  return {};
};

const openAgain: Advance = async (context) => {
  const collections = liveCollectionsOf(context.run);
  if (!(await isDoneOutside(context, 'open-writes', collections[0]))) {
    return waiting('the webhook');
  }
  await assertOpen(context, collections);
  return {};
};

/** Before anything is frozen, a setting that somebody else changed is a reason to stop: users may write there. */
export async function assertSettingKnown({ setting }: Services, run: Run): Promise<void> {
  const present = await setting.read();
  if (isKnown(run, present)) return;
  throw changedSetting(present, liveCollectionOf(run));
}

function isKnown(run: Run, collection: string): boolean {
  return [liveCollectionOf(run), run.plan.sourceCollection].includes(collection);
}
