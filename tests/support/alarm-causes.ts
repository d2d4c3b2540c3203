// What raises each alarm, by its name in serverless/alarms.ts. The tests provoke every one.

/** Per period: what happens when all is well, and the least that must raise the alarm. */
export interface Cause {
  readonly healthy: number | undefined;
  readonly cause: number | undefined;
  /** Periods in a row with the cause. */
  readonly lasting: number;
  /** Requests in each period, where the alarm looks at them; they are its last metric. */
  readonly traffic?: number;
  /** What must not raise it, however bad, with another traffic. */
  readonly unless?: { readonly traffic: number; readonly value: number };
}

export const CAUSES: Readonly<Record<string, Cause>> = {
  GatewayErrors: {
    ...{ healthy: 0, cause: 1, lasting: 2, traffic: 99 },
    unless: { traffic: 1_000, value: 9 },
  },
  GatewayErrorRatio: {
    ...{ healthy: 0, cause: 10, lasting: 2, traffic: 1_000 },
    unless: { traffic: 99, value: 99 },
  },
  GatewayLatency: {
    ...{ healthy: 200, cause: 3000, lasting: 3, traffic: 100 },
    unless: { traffic: 99, value: 20_000 },
  },
  CanaryFailed: { healthy: 0, cause: 1, lasting: 2 },
  CanarySilent: { healthy: 1, cause: undefined, lasting: 3 },
  TransactionsErrors: { healthy: 0, cause: 1, lasting: 1 },
  TransactionsThrottles: { healthy: 0, cause: 1, lasting: 2 },
  TransactionsDuration: { healthy: 900, cause: 16_000, lasting: 1 },
  CategoriesErrors: { healthy: 0, cause: 1, lasting: 1 },
  CategoriesThrottles: { healthy: 0, cause: 1, lasting: 2 },
  CategoriesDuration: { healthy: 900, cause: 16_000, lasting: 1 },
  SummaryErrors: { healthy: 0, cause: 1, lasting: 1 },
  SummaryThrottles: { healthy: 0, cause: 1, lasting: 2 },
  SummaryDuration: { healthy: 900, cause: 16_000, lasting: 1 },
  ApiErrors: { healthy: 0, cause: 1, lasting: 1 },
  ApiThrottles: { healthy: 0, cause: 1, lasting: 2 },
  ApiDuration: { healthy: 20, cause: 16_000, lasting: 1 },
  TableReadThrottles: { healthy: undefined, cause: 1, lasting: 2 },
  TableWriteThrottles: { healthy: undefined, cause: 1, lasting: 2 },
  TableConflicts: { healthy: undefined, cause: 20, lasting: 3 },
  TableSystemErrors: { healthy: undefined, cause: 1, lasting: 2 },
  ExecutionsFailed: { healthy: undefined, cause: 1, lasting: 1 },
  WatchdogFailed: { healthy: 0, cause: 1, lasting: 1 },
  // Invoked every second minute; a minute without an invocation has no data point.
  WatchdogSilent: { healthy: 1, cause: undefined, lasting: 10 },
  WatchdogUndelivered: { healthy: undefined, cause: 1, lasting: 1 },
};
