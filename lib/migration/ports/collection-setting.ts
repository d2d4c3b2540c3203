// The setting that names the collection the memory backend works on: the one switch of a cutover.
import { Refusal } from '../refusals.ts';

export interface CollectionSetting {
  read(): Promise<string>;
  /**
   * One write, made only where the setting still says what it said. Done already when it says so.
   * @throws Refusal when it says something else
   */
  change(change: { readonly from: string; readonly to: string }): Promise<void>;
  /** Proves the right to write it, and leaves it as it is. @throws as a change does */
  tryWrite(): Promise<void>;
}

export function changedSetting(present: string, expected: string): Refusal {
  return new Refusal(
    'RefusedSettingChanged',
    `The collection-name setting says, or is about to say, "${present}" instead of "${expected}".`,
  );
}

export function missingSetting(where: string, cause: unknown): Refusal {
  return new Refusal('RefusedSetting', `The collection-name setting ${where} cannot be read.`, {
    cause,
  });
}
