// Finds the version that the backend runs, and the collection that it works on. The plan of a run depends on it. A rollback checks
// it before it opens writes: on the new version users would go on writing to the new collection.
import { isRetryableFailure, Refusal, recoverWith, whenRefusedWith } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { liveCollectionOf, testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { KEY_OF_TEST_USER } from './backend-key.ts';
import { servesFrom } from './new-version.ts';
import { type CheckContext, defineCheck } from './prerequisites.ts';

/** A backend without that endpoint does not say which version it runs. */
type Deployed = 'new' | 'old' | 'unknown';

const DETAIL: Readonly<Record<Deployed, string>> = {
  new: 'the new one already: collection and keyword slot change, and no version is deployed',
  old: 'the old one',
  unknown: 'unknown, as the backend does not say',
};

const DEPLOY_PLANNED =
  'Deploy the version that the run began with; or end the run with "abort", and begin another one.';

/** @throws Refusal for the wrong key */
export async function findVersion(
  { backend }: Pick<Services, 'backend'>,
  { runId }: Pick<Run, 'runId'>,
): Promise<Deployed> {
  const isNew = await backend
    .isGraphDeprecated(testUserOf(runId))
    .catch(recoverWith(undefined, whenRefusedWith(404)));
  if (isNew === undefined) return 'unknown';
  return isNew ? 'new' : 'old';
}

export const DEPLOYED_VERSION = defineCheck({
  name: 'Deployed version',
  needs: [KEY_OF_TEST_USER],
  look: async ({ services, run }: CheckContext) => await findVersion(services, run),
  detail: (deployed) => DETAIL[deployed],
  facts: (deployed) => ({ deployed }),
  rules: [
    {
      // Before the run is recorded, its plan follows from the version.
      why: (deployed, run) =>
        run.evidence['preflight-report'] && whyOtherThanPlanned(run, deployed),
      remedy: DEPLOY_PLANNED,
    },
  ],
});

function whyOtherThanPlanned({ plan }: Run, deployed: Deployed): string | undefined {
  const planned = plan.sameVersion ? 'new' : 'old';
  if (deployed === 'unknown' || deployed === planned) return undefined;
  return `The backend runs the ${deployed} version, and the plan of the run has the ${planned} one.`;
}

/** Right before the window, where a refusal costs users nothing. @throws Refusal */
export async function assertAsPlanned(services: Services, run: Run): Promise<void> {
  // A backend that does not answer may be stopped already.
  const deployed = await findVersion(services, run).catch(
    recoverWith('unknown', isRetryableFailure),
  );
  const why = whyOtherThanPlanned(run, deployed as Deployed);
  if (why) throw new Refusal('RefusedPrerequisites', `${why} ${DEPLOY_PLANNED}`);
}

/** Progress of a rollback's deployment, by what the backend answers. */
export type Standing =
  | { readonly kind: 'returned' }
  /** elsewhere: users are not back. unproved: a later answer may tell. untold: no answer will ever tell. */
  | { readonly kind: 'elsewhere' | 'unproved' | 'untold' | 'away'; readonly why: unknown };

/**
 * The answer of the old version proves that users are back. A run may have the new version alone: then the backend is searched for
 * a memory that only the collection to return to has, and after that for one that only the other collection has.
 */
export async function findStanding(context: StepContext, to: string): Promise<Standing> {
  const { services, run } = context;
  const live = liveCollectionOf(run);
  const { sameVersion = false } = run.plan;
  try {
    await services.backend.health();
    const isNew = sameVersion || (await services.backend.isGraphDeprecated(testUserOf(run.runId)));
    if (!isNew || (sameVersion && to === live)) return { kind: 'returned' };
    const isThere = to !== live && (await servesFrom(context, to, live));
    if (isThere && sameVersion) return { kind: 'returned' };
    if (isThere) return { kind: 'unproved', why: `The new version answers, on ${to}.` };
    if (!sameVersion) return { kind: 'elsewhere', why: 'The new version still answers.' };
    if (await servesFrom(context, live, to))
      return { kind: 'elsewhere', why: `The backend still works on ${live}.` };
    return { kind: 'unproved', why: `The backend does not show that it works on ${to}.` };
  } catch (why) {
    if (isRetryableFailure(why)) return { kind: 'away', why };
    if (why instanceof Refusal) return { kind: 'untold', why };
    throw why;
  }
}
