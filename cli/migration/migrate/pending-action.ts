// Instructions for the person who carries out an action without a webhook.
import type { ExternalAction } from '../../../lib/migration/phases.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';

const INSTRUCTIONS: Readonly<
  Record<ExternalAction, (collection: string, testUser: string) => string>
> = {
  freeze: (collection) =>
    `Stop all writes to ${collection}: the backend answers each one with 503, even the test user's.`,
  'deploy-new': (collection, testUser) =>
    `Deploy the new version on ${collection}. Writes stay frozen until "open-writes"; allow those of ${testUser} only.`,
  'deploy-old': (collection) =>
    `Deploy the old version on ${collection}. Writes stay frozen until "open-writes".`,
  'open-writes': (collection) =>
    `Open writes on ${collection} for all users: writes stay frozen until this is done.`,
};

const RESTART_INSTRUCTION = (collection: string, testUser: string) =>
  `Restart the backend on ${collection}, in the version that it has. Writes stay frozen until "open-writes"; allow those of ${testUser} only.`;

export interface PendingAction {
  readonly action: ExternalAction;
  readonly collection: string;
  readonly toDo: string;
  readonly since: string | null;
}

/** Returns the action to carry out; undefined if no action is pending, or it was already confirmed */
export function findPendingAction({
  pendingAction,
  testUser,
  plan,
}: Status): PendingAction | undefined {
  if (!pendingAction || pendingAction.confirmedBy !== null) return undefined;
  const { action, collection, since } = pendingAction;
  const instruct =
    plan.sameVersion && action === 'deploy-new' ? RESTART_INSTRUCTION : INSTRUCTIONS[action];
  return { action, collection, toDo: instruct(collection, testUser), since };
}
