// The one middy chain: every handler is endpoint(failure message) plus what it needs besides.
import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { envelope } from './envelope.ts';
import type { Reply } from './replies.ts';

/** A request as handlers see it: the gateway's event and what every handler may ask of it. */
export type ApiEvent = Omit<APIGatewayProxyEventV2, 'pathParameters'> & {
  pathParameters?: Record<string, string | undefined>;
  /** The path's record id exactly as it was sent; empty on routes that have none. */
  pathId: string;
  /** Query parameters; one that was repeated holds its values joined by commas. */
  query: Readonly<Record<string, string | undefined>>;
};

/** @param failure what a client is told when the request fails unexpectedly (500) */
export function endpoint(failure: string) {
  // The envelope comes first: middy unwinds `after` and `onError` in reverse order.
  return middy<ApiEvent, Reply>().use(envelope(failure)).use(requestParameters());
}

function requestParameters(): MiddlewareObj<ApiEvent, Reply> {
  return {
    before: ({ event }) => {
      event.pathId = event.pathParameters?.id ?? '';
      event.query = event.queryStringParameters ?? {};
    },
  };
}
