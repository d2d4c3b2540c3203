// What serverless.yml cannot say of the gateway by itself: routes with a trailing slash, lists.
import { logicalName } from './logical-name.js';
import { readOrigins } from './parameters.ts';

/**
 * The twin with a trailing slash of every route of a resource, on the same integration: for API Gateway
 * these are two routes, and the packager folds them into one (docs/decisions/slash-routes.md).
 */
export async function slashRoutes({ resolveConfigurationProperty }) {
  const functions = Object.assign({}, ...(await resolveConfigurationProperty(['functions'])));
  return Object.fromEntries(
    Object.entries(functions).flatMap(([functionName, { events = [] }]) =>
      events
        .filter(({ httpApi }) => httpApi && !isCatchAll(httpApi))
        .map(({ httpApi }) => slashRoute(functionName, httpApi)),
    ),
  );
}

function isCatchAll(routeKey) {
  return routeKey === '*' || routeKey.endsWith('+}');
}

function slashRoute(functionName, routeKey) {
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
export async function routeSettings({ resolveVariable }) {
  const share = (value) => Math.max(1, Math.round(value * SHARE_OF_THROTTLE));
  const throttle = {
    ThrottlingRateLimit: share(await resolveVariable('param:throttleRate')),
    ThrottlingBurstLimit: share(await resolveVariable('param:throttleBurst')),
    DetailedMetricsEnabled: true,
  };
  return { $default: throttle, 'OPTIONS /{proxy+}': throttle };
}

/** The comma-separated parameter as a list. */
export async function allowedOrigins({ resolveVariable }) {
  return readOrigins(await resolveVariable('param:allowedOrigins'));
}

/** One JSON object per request: the request line, never a body. */
export const accessLogFormat = JSON.stringify({
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
