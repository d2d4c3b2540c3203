// Computes how many requests the packaged throttles allow: the emulator of tests/shared/deployed has no throttles. The burst is
// the number of simultaneous requests that pass.
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../ledger/support/api/routes.ts';
import { getOnlyResource, readTemplate, STAGES } from '../support/packaged-template.ts';

interface Throttle {
  readonly ThrottlingRateLimit: number;
  readonly ThrottlingBurstLimit: number;
}

const PAGE_REQUESTS = 20;
const LARGE_ROUTE = /\/bulk|\/export|\/search/;
/** Routes of static files, which browsers cache. The files are large, so their egress costs more than the requests. */
const STATIC_ROUTE = /^GET \/(docs\/?|openapi\.json\/?|page\.(css|js)\/?)?$/;
// The route takes the preflights of all paths: tests/shared/wiring/routes.test.ts finds no other OPTIONS route.
const PREFLIGHT = 'OPTIONS /{proxy+}';
const routes = OPERATIONS.flatMap(([route]) =>
  route.endsWith(' /') ? route : [route, `${route}/`],
);

describe.each(STAGES)('stage %s', (stage) => {
  const { DefaultRouteSettings, RouteSettings } = getOnlyResource<{
    readonly DefaultRouteSettings: Throttle;
    readonly RouteSettings: Readonly<Record<string, Throttle>>;
  }>(readTemplate(stage), 'AWS::ApiGatewayV2::Stage').Properties;

  const findBurst = (route: string) =>
    (RouteSettings[route] ?? DefaultRouteSettings).ThrottlingBurstLimit;

  it.each([PREFLIGHT, ...routes.filter((route) => !LARGE_ROUTE.test(route))])(
    'allows the twenty requests that a page sends at once to %s',
    (route) => expect(findBurst(route)).toBeGreaterThanOrEqual(PAGE_REQUESTS),
  );

  it('allows the preflights of two such pages', () => {
    expect(findBurst(PREFLIGHT)).toBeGreaterThanOrEqual(2 * PAGE_REQUESTS);
  });

  it('gives only large requests, static files and unknown routes a lower rate', () => {
    const largeSettings = routes
      .filter((route) => LARGE_ROUTE.test(route))
      .map((route) => RouteSettings[route]);
    expect(largeSettings).toHaveLength(12);
    const { ThrottlingRateLimit } = DefaultRouteSettings;
    const staticSettings = routes
      .filter((route) => STATIC_ROUTE.test(route))
      .map((route) => RouteSettings[route]);
    expect(staticSettings).toHaveLength(9);
    for (const setting of [...largeSettings, ...staticSettings, RouteSettings.$default])
      expect(setting?.ThrottlingRateLimit).toBeLessThanOrEqual(ThrottlingRateLimit / 10);
    expect(Object.keys(RouteSettings)).toHaveLength(12 + 9 + ['$default', PREFLIGHT].length);
  });
});
