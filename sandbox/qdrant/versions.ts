// Which version of Qdrant introduced each feature, so that the sandbox can behave like any version.

/**
 * The version that compose.yaml starts, and that of the official client's schema, from which the types of the calls come.
 */
export const DEFAULT_VERSION = '1.19.0';

const FEATURE_VERSIONS = {
  inference: '1.15.3',
  updateMode: '1.17.0',
  vectorSlots: '1.18.0',
} as const;

export type Feature = keyof typeof FEATURE_VERSIONS;

export function hasFeature(version: string, feature: Feature): boolean {
  return compareVersions(version, FEATURE_VERSIONS[feature]) >= 0;
}

/** Compares two versions for a sort. @returns a number below, at or above zero */
export function compareVersions(first: string, second: string): number {
  const firstParts = first.split('.').map(Number);
  const secondParts = second.split('.').map(Number);
  const differing = [0, 1, 2].find((part) => firstParts[part] !== secondParts[part]);
  return differing === undefined ? 0 : (firstParts[differing] ?? 0) - (secondParts[differing] ?? 0);
}
