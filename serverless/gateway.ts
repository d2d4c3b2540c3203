// What serverless.yml cannot say of the gateway by itself: routes with a trailing slash, lists.
import {
  type Configuration,
  functionsOf,
  logicalName,
  type Resources,
  textOf,
} from './configuration.ts';
import { readOrigins } from './parameters.ts';

/**
 * The twin with a trailing slash of every route of a resource, on the same integration: for API Gateway
 * these are two routes, and the packager folds them into one (docs/decisions/slash-routes.md).
 */
export async function slashRoutes(configuration: Configuration): Promise<Resources> {
  const functions = await functionsOf(configuration);
  return Object.fromEntries(
    Object.entries(functions).flatMap(([functionName, { events = [] }]) =>
      events
        .flatMap(({ httpApi }) => httpApi ?? [])
        .filter((routeKey) => !isCatchAll(routeKey))
        .map((routeKey) => slashRoute(functionName, routeKey)),
    ),
  );
}

function isCatchAll(routeKey: string): boolean {
  return routeKey === '*' || routeKey.endsWith('+}');
}

function slashRoute(functionName: string, routeKey: string): [string, object] {
  const name = logicalName(functionName);
  const integration = `HttpApiIntegration${name}`;
  return [
    `HttpApiSlashRoute${name}`,
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

// Nobody who uses the API needs many of these.
const SHARE_OF_THROTTLE = 0.1;

/** Throttles of their own for what anybody may send: unknown routes, and preflights. */
export async function routeSettings(configuration: Configuration) {
  const share = async (name: string) =>
    Math.max(1, Math.round(Number(await textOf(configuration, name)) * SHARE_OF_THROTTLE));
  const throttle = {
    ThrottlingRateLimit: await share('param:throttleRate'),
    ThrottlingBurstLimit: await share('param:throttleBurst'),
    DetailedMetricsEnabled: true,
  };
  return { $default: throttle, 'OPTIONS /{proxy+}': throttle };
}

/** The comma-separated parameter as a list. */
export async function allowedOrigins(configuration: Configuration): Promise<readonly string[]> {
  return readOrigins(await textOf(configuration, 'param:allowedOrigins'));
}

const ACCESS_LOG_FORMAT = JSON.stringify({
  requestId: '$context.requestId',
  functionRequestId: '$context.integration.requestId', // what clients see as X-Request-Id
  requestTime: '$context.requestTime',
  routeKey: '$context.routeKey',
  method: '$context.httpMethod',
  path: '$context.path',
  status: '$context.status',
  responseLength: '$context.responseLength',
  responseLatency: '$context.responseLatency',
  integrationLatency: '$context.integrationLatency',
  integrationError: '$context.integrationErrorMessage',
  gatewayError: '$context.error.message',
  sourceIp: '$context.identity.sourceIp',
  userAgent: '$context.identity.userAgent',
});

/** One JSON object per request: the request line, never a body. */
export function accessLogFormat(): string {
  return ACCESS_LOG_FORMAT;
}
