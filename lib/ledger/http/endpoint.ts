// The only middy chain. Every handler is one of these endpoints, with more middleware if needed.
import middy, { type MiddlewareObj } from '@middy/core';
import { isWriteConflict } from '../../shared/retryable-errors.ts';
import { requireAllowed } from '../auth/authenticate.ts';
import type { IdentifiedCaller } from '../auth/caller.ts';
import type { Scope } from '../domain/api-key.ts';
import { parseId } from '../domain/record.ts';
import { ValidationError } from '../errors.ts';
import type { Ledger, LedgerService } from '../ledger.ts';
import type { RequestContext } from '../request-context.ts';
import type { ApiEvent, GatewayEvent, RequestParameters } from './api-event.ts';
import { wrapInEnvelope } from './envelope.ts';
import FAILURES from './failures.json' with { type: 'json' };
import { refuseParameters } from './fields.ts';
import { refuseFixedPath } from './no-route.ts';
import { isUtf8, NOT_UTF8, readQuery } from './query-string.ts';
import type { Operation, Reply, ReplyTo } from './replies.ts';
import { logRequests } from './request-log.ts';

export type LedgerEvent = ApiEvent & {
  caller: IdentifiedCaller & { readonly scope: Scope };
  context: RequestContext;
  /** The caller's ledger. Calls to it end by the request's deadline. */
  ledger: Ledger;
};

/** Returns the message of an operation's response to a request that fails unexpectedly (500). */
export function getFailureMessage(operation: Operation): string {
  return FAILURES[operation];
}

/** @param failureMessage the message of the response if the request fails unexpectedly (500) */
export function createEndpoint<Response extends Reply<object> = Reply>(failureMessage: string) {
  // Middy runs `after` and `onError` in reverse order: the first middleware logs the final response.
  return middy<GatewayEvent, Response>()
    .use(logRequests())
    .use(wrapInEnvelope(failureMessage))
    .use(readRequestParameters());
}

/** An endpoint of the caller's ledger that accepts no query parameters. */
export function createLedgerEndpoint<Id extends Operation>(service: LedgerService, operation: Id) {
  return createQueryEndpoint(service, operation).use(refuseAllParameters());
}

/** An endpoint of the caller's ledger whose handler parses the query parameters. */
export function createQueryEndpoint<Id extends Operation>(service: LedgerService, operation: Id) {
  return createPublicEndpoint(operation).use(openRequestContext(service));
}

/** An endpoint that needs neither an API key nor an access token. */
export function createPublicEndpoint<Id extends Operation>(operation: Id) {
  return createEndpoint<ReplyTo<Id>>(getFailureMessage(operation));
}

/**
 * Refuses every parameter, because ignoring a parameter would hide a misspelling. If the path has a malformed id, refuses
 * nothing, so that the handler responds with 404.
 */
export function refuseAllParameters(): MiddlewareObj<ApiEvent, Reply> {
  return {
    before: ({ event: { pathId, query } }) => {
      if (pathId === '' || parseId(pathId) !== undefined) refuseParameters(query);
    },
  };
}

function readRequestParameters(): MiddlewareObj<GatewayEvent & RequestParameters, Reply> {
  return {
    before: ({ event }) => {
      const { rawQueryString = '' } = event;
      if (!isUtf8(rawQueryString)) throw new ValidationError(NOT_UTF8);
      event.pathId = event.pathParameters?.id ?? '';
      event.query = readQuery(event);
      const { method, path } = event.requestContext.http;
      if (event.pathId !== '') refuseFixedPath(method, path);
    },
  };
}

function openRequestContext(service: LedgerService): MiddlewareObj<LedgerEvent, Reply> {
  return {
    before: async ({ event, context: { awsRequestId } }) => {
      const { tally } = event;
      const request = service.startRequest(awsRequestId, (error) => {
        tally.retries += 1;
        if (isWriteConflict(error)) tally.conflicts += 1;
      });
      const caller = await service.authenticate(event.headers.authorization, request);
      requireAllowed(caller, event.requestContext.http.method);
      event.caller = caller;
      tally.ledger = caller.ledger;
      event.context = { ...request, ledger: caller.ledger };
      event.ledger = service.openLedger(event.context);
    },
  };
}
