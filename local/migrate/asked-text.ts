// What a person is asked to do where no webhook does it, in words.
import type { Deed } from '../../lib/migration/phases.ts';
import type { Status } from '../../lib/migration/steps/status.ts';

const WORDS: Readonly<Record<Deed, (collection: string, testUser: string) => string>> = {
  freeze: (collection) =>
    `Stop every write to ${collection}, the test user's too: each is turned down with a 503.`,
  'deploy-new': (collection, testUser) =>
    `Deploy the new version on ${collection}; it takes writes of ${testUser} only.`,
  'deploy-old': (collection) => `Deploy the old version on ${collection}.`,
  'open-writes': (collection) => `Open writes on ${collection} to everybody.`,
};

export interface Asked {
  readonly toDo: string;
  readonly since: string | null;
}

/** Nothing where nobody is asked, or where it was said to be done. */
export function askedOf({ gates, testUser }: Pick<Status, 'gates' | 'testUser'>): Asked[] {
  return gates.flatMap(({ action, collection, askedAt, isOpen }) =>
    action === null || collection === null || isOpen
      ? []
      : [{ toDo: WORDS[action](collection, testUser), since: askedAt }],
  );
}
