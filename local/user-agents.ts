/** User agents of commands that send many requests. The local service logs only their failed requests. */
export const USER_AGENTS = {
  seed: 'finance-ledger-seed',
  import: 'finance-ledger-import',
} as const;
