// The one middy chain: every handler is endpoint(failure message) plus what it needs besides.
import middy, { type MiddlewareObj } from '@middy/core';
import type { ApiEvent } from './api-event.ts';
import { envelope } from './envelope.ts';
import type { Reply } from './replies.ts';

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
