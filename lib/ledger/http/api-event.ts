// A request as handlers receive it: the gateway's event, and what the middleware of every endpoint adds.
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Query } from './query-string.ts';

export type GatewayEvent = Omit<APIGatewayProxyEventV2, 'pathParameters'> & {
  pathParameters?: Record<string, string | undefined>;
};

export interface RequestParameters {
  /** The record id in the path, exactly as the client sent it; empty on routes without an id. */
  pathId: string;
  query: Query;
}

export interface Tallied {
  tally: RequestTally;
}

export type ApiEvent = GatewayEvent & Tallied & RequestParameters;

/** Counts for a request's log line. */
export interface RequestTally {
  retries: number;
  conflicts: number;
  /** Ledger of the request; undefined on routes that need no ledger. */
  ledger?: string;
}
