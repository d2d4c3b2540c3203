// What a dry run of the copy tells: totals and the largest users at once, every user in an artifact, for the answer of
// a function has room for some ten thousand of them only.
import { createHash } from 'node:crypto';
import type { CopyPlan } from '../copy/copy-plan.ts';
import type { UserIdText } from '../json/memory-payload.ts';
import { writeJson } from '../ports/json-artifact.ts';
import { userDigest } from '../proof/user-digest.ts';
import type { StepContext } from '../runs/step.ts';

const MOST_TOLD = 20;

export async function forecastCopy(
  { services, run }: StepContext,
  { settings, users, estimate }: CopyPlan,
) {
  const { total, withoutUser, countedBy, byUser } = users;
  const counts = [...byUser].map(toCount).toSorted(bySize);
  const list = { runId: run.runId, total, withoutUser, countedBy, counts };
  // Named after what it holds: a later dry run leaves an earlier one's list as it was.
  const name = createHash('sha256').update(JSON.stringify(list)).digest('hex').slice(0, 16);
  const key = `${run.runId}/copy-forecast-${name}.json`;
  const { sha256: digest } = await writeJson(services.artifacts, key, list);
  return {
    total,
    withoutUser,
    countedBy,
    users: counts.length,
    largest: counts.slice(0, MOST_TOLD),
    allUsers: { artifact: key, digest },
    estimate,
    keywords: settings.keywords,
  };
}

interface UserCount {
  readonly user: string;
  readonly points: number;
}

function toCount([user, points]: [UserIdText, number]): UserCount {
  return { user: userDigest(String(JSON.parse(user))), points };
}

function bySize(one: UserCount, other: UserCount): number {
  return other.points - one.points || (one.user < other.user ? -1 : 1);
}
