// Logs one line for each request on AWS, with its status, duration and retries. The line is an access log, and CloudWatch takes
// metrics from it.
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { logRequest } from '../../shared/log.ts';
import type { GatewayEvent, Tallied } from './api-event.ts';
import type { Reply } from './replies.ts';

let isColdStart = true;

/** Without a namespace for metrics, logs nothing: that is the local service, which has its own log. */
export function logRequests(): MiddlewareObj<
  GatewayEvent & Tallied,
  Reply | APIGatewayProxyStructuredResultV2
> {
  const startedAt = new WeakMap<object, number>();

  function logServedRequest({ event, context, response }: ServedRequest): void {
    if (!process.env.POWERTOOLS_METRICS_NAMESPACE) return;
    const { statusCode, headers = {} } = response as APIGatewayProxyStructuredResultV2;
    const { ledger, ...counts } = event.tally;
    const { awsRequestId: requestId } = context;
    logRequest(
      { requestId, route: event.routeKey, status: statusCode ?? 0, ledger },
      {
        duration: performance.now() - (startedAt.get(event) ?? Number.NaN),
        ...counts,
        replays: headers['idempotent-replayed'] === 'true' ? 1 : 0,
        coldStarts: isColdStart ? 1 : 0,
      },
    );
    isColdStart = false;
  }

  return {
    before: ({ event }) => {
      startedAt.set(event, performance.now());
      event.tally = { retries: 0, conflicts: 0 };
    },
    after: logServedRequest,
    onError: logServedRequest,
  };
}

interface ServedRequest {
  readonly event: GatewayEvent & Tallied;
  readonly context: { readonly awsRequestId: string };
  readonly response: unknown;
}
