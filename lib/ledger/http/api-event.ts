// A request as handlers see it: the gateway's event and what every handler may ask of it.
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Query } from './query-string.ts';

export type ApiEvent = Omit<APIGatewayProxyEventV2, 'pathParameters'> & {
  pathParameters?: Record<string, string | undefined>;
  /** The path's record id exactly as it was sent; empty on routes that have none. */
  pathId: string;
  query: Query;
  tally: RequestTally;
};

/** Counts for the log line of a request, taken while it is served. */
export interface RequestTally {
  retries: number;
  conflicts: number;
  /** The ledger served; undefined on routes that have none. */
  ledger?: string;
}
