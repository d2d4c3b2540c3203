// A request as API Gateway's HTTP API passes it to a function (payload format 2.0).
import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type ApiRequest, formatBody, formatQuery } from './api-client.ts';
import type { Route } from './routes.ts';

export function toGatewayEvent(
  route: Route,
  method: string,
  path: string,
  request: ApiRequest,
): APIGatewayProxyEventV2 {
  const rawQueryString = formatQuery(request.query);
  const headers = toHeaders(request);
  return {
    version: '2.0',
    routeKey: route.key,
    rawPath: decodeURIComponent(path),
    rawQueryString,
    headers,
    ...toQueryParameters(rawQueryString),
    ...(route.id === undefined ? {} : { pathParameters: { id: decodeURIComponent(route.id) } }),
    ...toBody(request, headers['content-type'] ?? ''),
    requestContext: toRequestContext(route, method, path),
  };
}

// The gateway puts the names of headers in lower case.
function toHeaders(request: ApiRequest): Record<string, string> {
  const headers = { ...(request.body === undefined ? {} : JSON_TYPE), ...request.headers };
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

const JSON_TYPE = { 'content-type': 'application/json' };

// The gateway joins the values of a repeated name.
function toQueryParameters(query: string) {
  const values = Map.groupBy(new URLSearchParams(query), ([name]) => name);
  if (values.size === 0) return {};
  const queryStringParameters = Object.fromEntries(
    [...values].map(([name, pairs]) => [name, pairs.map(([, value]) => value).join(',')]),
  );
  return { queryStringParameters };
}

// The gateway passes all other content types in base64.
const TEXT_TYPE = /^(text\/.*|application\/(json|javascript|xml))(;|$)/i;

function toBody(request: ApiRequest, contentType: string) {
  const body = formatBody(request);
  if (body === undefined || body === '') return { isBase64Encoded: false };
  return TEXT_TYPE.test(contentType)
    ? { body, isBase64Encoded: false }
    : { body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
}

// Holds only the fields that the service reads.
function toRequestContext(route: Route, method: string, path: string) {
  const http = { method, path: decodeURIComponent(path) };
  return {
    http,
    requestId: randomUUID(),
    routeKey: route.key,
  } as APIGatewayProxyEventV2['requestContext'];
}
