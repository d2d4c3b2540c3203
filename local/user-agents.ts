/** User agents of commands that send many requests: the local service logs only their failures. */
export const USER_AGENTS = {
  seed: 'finance-ledger-seed',
  import: 'finance-ledger-import',
} as const;
