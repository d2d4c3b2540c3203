// Finds out which version the backend runs: the plan of a run depends on it.
import { isRetryableFailure, Refusal, recoverWith, whenRefusedWith } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { KEY_OF_TEST_USER } from './backend-key.ts';
import { type CheckContext, defineCheck } from './prerequisites.ts';

/** unknown: the backend lacks the endpoint that tells its version. */
type DeployedVersion = 'new' | 'old' | 'unknown';

const DETAIL: Readonly<Record<DeployedVersion, string>> = {
  new: 'the new one already: only collection and keyword slot change',
  old: 'the old one',
  unknown: 'unknown, as the backend does not say',
};

const DEPLOY_PLANNED =
  'Deploy the version that the run began with; or end the run with "abort", and begin another.';

/** @throws Refusal for the wrong key */
export async function findDeployedVersion(
  { backend }: Pick<Services, 'backend'>,
  { runId }: Pick<Run, 'runId'>,
): Promise<DeployedVersion> {
  const runsNewVersion = await backend
    .isGraphDeprecated(testUserOf(runId))
    .catch(recoverWith(undefined, whenRefusedWith(404)));
  if (runsNewVersion === undefined) return 'unknown';
  return runsNewVersion ? 'new' : 'old';
}

export const DEPLOYED_VERSION = defineCheck({
  name: 'Deployed version',
  needs: [KEY_OF_TEST_USER],
  read: async ({ services, run }: CheckContext) => await findDeployedVersion(services, run),
  detail: (deployed) => DETAIL[deployed],
  facts: (deployed) => ({ deployed }),
  rules: [
    {
      // A run that is not recorded yet is planned for the deployed version.
      why: (deployed, run) => run.evidence['preflight-report'] && whyUnplanned(run, deployed),
      remedy: DEPLOY_PLANNED,
    },
  ],
});

function whyUnplanned({ plan }: Run, deployed: DeployedVersion): string | undefined {
  const planned = plan.sameVersion ? 'new' : 'old';
  if (deployed === 'unknown' || deployed === planned) return undefined;
  return `The backend runs the ${deployed} version, but the plan of the run expects the ${planned} one.`;
}

/** Called right before the window, when users do not notice a refusal. @throws Refusal if another version is deployed */
export async function assertPlannedVersion(services: Services, run: Run): Promise<void> {
  // The operator may have stopped the backend already.
  const deployed = await findDeployedVersion(services, run).catch(
    recoverWith('unknown', isRetryableFailure),
  );
  const why = whyUnplanned(run, deployed as DeployedVersion);
  if (why) throw new Refusal('RefusedPrerequisites', `${why} ${DEPLOY_PLANNED}`);
}
