// An API key, which opens one ledger.

export const SCOPES = ['read', 'write'] as const;
/** `read` allows GET; `write` allows every method. */
export type Scope = (typeof SCOPES)[number];

export interface ApiKey {
  /** Identifies the key, and grants no access. */
  readonly id: string;
  readonly name: string;
  readonly ledger: string;
  readonly scope: Scope;
  /** Milliseconds since 1970, UTC. */
  readonly createdAt: number;
  /** Day of the last use in UTC, `YYYY-MM-DD`; undefined before the first one. */
  readonly lastUsedOn: string | undefined;
  /** Milliseconds since 1970, UTC; undefined while the key is valid. */
  readonly revokedAt: number | undefined;
}
