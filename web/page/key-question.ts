// Asks for a key. If the service refuses a person's action because of the key, the action waits for another key and is then
// repeated. It cannot run in another ledger, because a key of another ledger reloads the page.
import { signal } from '@preact/signals';
import { ApiError, type Call } from './api-error.ts';
import { call, storedKey } from './client.ts';
import { untilTrue } from './until-true.ts';

/** Undefined unless the page asks for a key; `refused` is the error if the service refused the last key. */
export const keyQuestion = signal<{ readonly refused: ApiError | undefined } | undefined>(
  undefined,
);

export function askForKey(error: ApiError | undefined): void {
  const refused = storedKey.read() === undefined ? keyQuestion.peek()?.refused : error;
  storedKey.forgetRefused();
  keyQuestion.value = { refused };
}

/** @throws ApiError, but not with 401 */
export async function withKey<Result>(act: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      if (!keyQuestion.peek()) askForKey(error);
      await untilTrue(() => !keyQuestion.value);
    }
  }
}

export async function callWithKey<Result>(path: string, request?: Call): Promise<Result> {
  return await withKey(() => call<Result>(path, request));
}
