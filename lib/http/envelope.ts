// Puts every reply and every error on the wire: JSON, the request's id, and the log line of a failure.
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { logFailure } from '../log.ts';
import type { ApiEvent } from './endpoint.ts';
import { toErrorReply } from './error-reply.ts';
import type { Reply } from './replies.ts';

type WireReply = Reply | APIGatewayProxyStructuredResultV2;

export function envelope(failure: string): MiddlewareObj<ApiEvent, WireReply> {
  return {
    after: (request) => {
      request.response = toResult(request.response as Reply, requestId(request));
    },
    onError: (request) => {
      const id = requestId(request);
      const reply = toErrorReply(request.error, failure);
      if (reply.status >= 500) logFailure({ requestId: id, failure, cause: request.error });
      request.response = toResult(reply, id);
    },
  };
}

// The gateway's id is the one in its access log; an invocation by hand has only Lambda's own.
function requestId({ event, context }: { event: ApiEvent; context: { awsRequestId: string } }) {
  return event.requestContext?.requestId ?? context.awsRequestId;
}

function toResult(reply: Reply, id: string): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode: reply.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': id,
    },
    body: JSON.stringify(reply.body),
  };
}
