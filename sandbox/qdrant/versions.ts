// Which version brought what, for a sandbox that can be any of them.

/** The version that compose.yaml starts, and of the official client's schema, against which the calls are typed. */
export const DEFAULT_VERSION = '1.19.0';

const SINCE = {
  inference: '1.15.3',
  updateMode: '1.17.0',
  vectorSlots: '1.18.0',
} as const;

export type Feature = keyof typeof SINCE;

export function has(version: string, feature: Feature): boolean {
  return compareVersions(version, SINCE[feature]) >= 0;
}

/** Below, at or above zero, as for a sort. */
export function compareVersions(one: string, other: string): number {
  const left = one.split('.').map(Number);
  const right = other.split('.').map(Number);
  const unequal = [0, 1, 2].find((part) => left[part] !== right[part]);
  return unequal === undefined ? 0 : (left[unequal] ?? 0) - (right[unequal] ?? 0);
}
