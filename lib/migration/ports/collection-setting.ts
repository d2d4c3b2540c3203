// The setting that names the memory backend's collection. Changing it is the switch of a cutover.
import { Refusal } from '../refusals.ts';

export interface CollectionSetting {
  read(): Promise<string>;
  /**
   * Changes the setting in one write if it still has the old value. Can be repeated.
   * @throws Refusal if it has neither value
   */
  change(change: { readonly from: string; readonly to: string }): Promise<void>;
  /** Proves that the setting can be written, without changing it. @throws like `change` */
  tryWrite(): Promise<void>;
}

export function refuseChangedSetting(actual: string, expected: string): Refusal {
  return new Refusal(
    'RefusedSettingChanged',
    `The collection-name setting is, or is about to become, "${actual}" instead of "${expected}".`,
  );
}

export function refuseMissingSetting(location: string, cause: unknown): Refusal {
  return new Refusal('RefusedSetting', `The collection-name setting ${location} cannot be read.`, {
    cause,
  });
}
