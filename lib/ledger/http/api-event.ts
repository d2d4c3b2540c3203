// A request as handlers see it: the gateway's event, and what the middlewares of every endpoint add.
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Query } from './query-string.ts';

export type GatewayEvent = Omit<APIGatewayProxyEventV2, 'pathParameters'> & {
  pathParameters?: Record<string, string | undefined>;
};

export interface RequestParameters {
  /** The path's record id exactly as it was sent; empty on routes that have none. */
  pathId: string;
  query: Query;
}

export interface Tallied {
  tally: RequestTally;
}

export type ApiEvent = GatewayEvent & Tallied & RequestParameters;

/** Counts for the log line of a request, taken while it is served. */
export interface RequestTally {
  retries: number;
  conflicts: number;
  /** Ledger of the request; undefined on routes that have none. */
  ledger?: string;
}
