// An API key, which opens one ledger.

export const SCOPES = ['read', 'write'] as const;
/** `read` allows GET; `write` allows every method. */
export type Scope = (typeof SCOPES)[number];

export interface ApiKey {
  /** Safe to show: the id gives no access. */
  readonly id: string;
  readonly name: string;
  readonly ledger: string;
  readonly scope: Scope;
  /** Milliseconds since 1970, UTC. */
  readonly createdAt: number;
  /** Day of the last use in UTC, `YYYY-MM-DD`; undefined for a key that was never used. */
  readonly lastUsedOn: string | undefined;
  /** Milliseconds since 1970, UTC; undefined while the key is valid. */
  readonly revokedAt: number | undefined;
}
