// Turns every reply and every error into a response: JSON, the security headers and the request's id. A failure is also logged.
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { GatewayEvent } from './api-event.ts';
import { replyToError } from './error-reply.ts';
import type { Reply } from './replies.ts';

type WireReply = Reply | APIGatewayProxyStructuredResultV2;

/** Every response forbids content sniffing, framing and loading of resources, and enforces HTTPS. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
};

export function wrapInEnvelope(failureMessage: string): MiddlewareObj<GatewayEvent, WireReply> {
  return {
    after: (request) => {
      request.response = toResult(request.response as Reply, request.context.awsRequestId);
    },
    onError: (request) => {
      const { awsRequestId: requestId } = request.context;
      request.response = toResult(
        replyToError(request.error, { requestId, failureMessage }),
        requestId,
      );
    },
  };
}

// The request's id is that of the Lambda invocation. Each log line of the function has it, and so has the gateway's access log.
function toResult(reply: Reply, requestId: string): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode: reply.status,
    headers: {
      ...SECURITY_HEADERS,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...reply.headers,
    },
    ...(reply.status === 304 ? {} : { body: reply.text ?? JSON.stringify(reply.body) }),
    ...(reply.isBase64Encoded && { isBase64Encoded: true }),
  };
}
