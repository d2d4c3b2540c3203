/** Of the commands that send many requests: the local service logs only those that fail. */
export const USER_AGENTS = {
  seed: 'finance-ledger-seed',
  import: 'finance-ledger-import',
} as const;
