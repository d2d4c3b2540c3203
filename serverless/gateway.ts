// Parts of the gateway that serverless.yml cannot express: routes with a trailing slash, throttles, origins, and the access log.
import { ENDPOINTS_BY_ROUTE } from '../lib/ledger/http/endpoints/endpoints-by-route.ts';
import {
  type Configuration,
  type Resources,
  readFunctions,
  readText,
  toLogicalName,
} from './configuration.ts';
import { readOrigins } from './parameters.ts';

/**
 * Adds each resource's route again with a trailing slash, on the same integration. API Gateway needs a route for each form, but
 * Serverless Framework merges the two (docs/ledger/decisions/0001-slash-routes.md).
 */
export async function slashRoutes(configuration: Configuration): Promise<Resources> {
  const functions = await readFunctions(configuration);
  return Object.fromEntries(
    Object.entries(functions).flatMap(([functionName, { events = [] }]) =>
      events
        .flatMap(({ httpApi }) => httpApi ?? [])
        .map((routeKey, n) => ({ routeKey, suffix: n === 0 ? '' : toLastWord(routeKey) }))
        .filter(({ routeKey }) => !hasOneForm(routeKey))
        .map(({ routeKey, suffix }) => createSlashRoute(functionName, routeKey, suffix)),
    ),
  );
}

/** True for a route that needs no slash form: one for any path, or the path "/". */
function hasOneForm(routeKey: string): boolean {
  return routeKey === '*' || routeKey.endsWith('+}') || routeKey.endsWith(' /');
}

/** @param suffix distinguishes the routes of one function: `Js` of `/page.js` */
function createSlashRoute(
  functionName: string,
  routeKey: string,
  suffix: string,
): [string, object] {
  const name = toLogicalName(functionName);
  const integration = `HttpApiIntegration${name}`;
  return [
    `HttpApiSlashRoute${name}${suffix}`,
    {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: {
        ApiId: { Ref: 'HttpApi' },
        RouteKey: `${routeKey}/`,
        Target: { 'Fn::Join': ['/', ['integrations', { Ref: integration }]] },
      },
    },
  ];
}

function toLastWord(routeKey: string): string {
  return toLogicalName(/\w*$/.exec(routeKey)?.[0] ?? '');
}

// Share of the usual limit that other routes get: no client needs to call them often.
const SHARE_OF_OTHER_ROUTES = 0.1;

/**
 * Static texts: large, cached by browsers, and the same for every client. Their outgoing traffic costs more than the requests.
 */
const STATIC_ROUTES = ['GET /docs', 'GET /openapi.json', 'GET /page.css', 'GET /page.js'];

// A page may send this many requests at once.
const MIN_BURST = 20;

/**
 * Throttles of the routes whose limits differ from the default. Unknown routes, static texts and large requests get less;
 * preflights have their own limit, because browsers send one before every distinct query.
 */
export async function routeSettings(configuration: Configuration) {
  const readNumber = async (name: string) => Number(await readText(configuration, `param:${name}`));
  const [rate, burst] = [await readNumber('throttleRate'), await readNumber('throttleBurst')];
  const takeShare = (value: number) => Math.max(1, Math.round(value * SHARE_OF_OTHER_ROUTES));
  const largeRequestLimits: Record<string, ReturnType<typeof createThrottle>> = {};
  for (const [route, { limit }] of Object.entries(ENDPOINTS_BY_ROUTE)) {
    if (limit === undefined) continue;
    const largeRate = await readNumber(limit);
    for (const form of [route, `${route}/`])
      largeRequestLimits[form] = createThrottle(largeRate, 2 * largeRate);
  }
  const staticLimit = createThrottle(takeShare(rate), Math.max(MIN_BURST, takeShare(burst)));
  const staticRoutes = ['GET /', ...STATIC_ROUTES.flatMap((route) => [route, `${route}/`])];
  return {
    $default: createThrottle(takeShare(rate), takeShare(burst)),
    ...Object.fromEntries(staticRoutes.map((form) => [form, staticLimit])),
    'OPTIONS /{proxy+}': createThrottle(rate, burst),
    ...largeRequestLimits,
  };
}

function createThrottle(ThrottlingRateLimit: number, ThrottlingBurstLimit: number) {
  return { ThrottlingRateLimit, ThrottlingBurstLimit, DetailedMetricsEnabled: true };
}

/** Reads the comma-separated parameter as a list. */
export async function allowedOrigins(configuration: Configuration): Promise<readonly string[]> {
  return readOrigins(await readText(configuration, 'param:allowedOrigins'));
}

// The format has no field whose length a client can choose: with one, logs would cost ten times as much in an attack
// (docs/ledger/decisions/0023-access-log.md).
const ACCESS_LOG_FORMAT = JSON.stringify({
  requestId: '$context.requestId',
  functionRequestId: '$context.integration.requestId', // what clients see as X-Request-Id
  requestTime: '$context.requestTime',
  routeKey: '$context.routeKey',
  status: '$context.status',
  responseLength: '$context.responseLength',
  responseLatency: '$context.responseLatency',
  integrationLatency: '$context.integrationLatency',
  integrationError: '$context.integrationErrorMessage',
  gatewayError: '$context.error.message',
  sourceIp: '$context.identity.sourceIp',
});

/** One JSON object per request: its route and its outcome, never its path or its body. */
export function accessLogFormat(): string {
  return ACCESS_LOG_FORMAT;
}
