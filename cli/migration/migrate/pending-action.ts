// Instructions for a person, where no webhook is configured
import type { ExternalAction } from '../../../lib/migration/phases.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';

const WORDS: Readonly<Record<ExternalAction, (collection: string, testUser: string) => string>> = {
  freeze: (collection) =>
    `Stop all writes to ${collection}: the backend answers each one with 503, also for the test user.`,
  'deploy-new': (collection, testUser) =>
    `Deploy the new version on ${collection}. Writes stay frozen until "open-writes"; allow those of ${testUser} only.`,
  'deploy-old': (collection) =>
    `Deploy the old version on ${collection}. Writes stay frozen until "open-writes".`,
  'open-writes': (collection) =>
    `Open writes on ${collection} for all users: writes stay frozen until this is done.`,
};

const RESTART = (collection: string, testUser: string) =>
  `Restart the backend on ${collection}, in the version that it has. Writes stay frozen until "open-writes"; allow those of ${testUser} only.`;

export interface PendingAction {
  readonly action: ExternalAction;
  readonly collection: string;
  readonly toDo: string;
  readonly since: string | null;
}

/** Undefined where nothing is pending, or where it was confirmed. */
export function findPendingAction({
  pendingAction,
  testUser,
  plan,
}: Status): PendingAction | undefined {
  const pending = pendingAction;
  if (!pending || pending.confirmedBy !== null) return undefined;
  const { action, collection, since } = pending;
  const words = plan.sameVersion && action === 'deploy-new' ? RESTART : WORDS[action];
  return { action, collection, toDo: words(collection, testUser), since };
}
