// The gateway is throttled, watched and logged, and answers browsers of named origins.
import { describe, expect, it } from 'vitest';
import { readTemplate, resourcesOf, type Stage, theOnly } from '../support/packaged-template.ts';

interface StageExpectation {
  readonly stage: Stage;
  readonly rate: number;
  readonly burst: number;
  readonly bulk: number;
  readonly origins: string[];
}

const STAGE_SETTINGS: readonly StageExpectation[] = [
  { stage: 'dev', rate: 20, burst: 40, bulk: 1, origins: ['http://localhost:3000'] },
  { stage: 'prod', rate: 100, burst: 200, bulk: 3, origins: ['https://finance-ledger.example'] },
];

describe.each(STAGE_SETTINGS)(
  'the gateway of stage $stage',
  ({ stage, rate, burst, bulk, origins }) => {
    const template = readTemplate(stage);
    const deployed = theOnly(template, 'AWS::ApiGatewayV2::Stage').Properties;

    it('is throttled, and measured route by route', () => {
      expect(deployed.DefaultRouteSettings).toEqual({
        DetailedMetricsEnabled: true,
        ThrottlingRateLimit: rate,
        ThrottlingBurstLimit: burst,
      });
    });

    it('has throttles of their own for unknown routes, preflights and large requests', () => {
      const throttle = (ThrottlingRateLimit: number, ThrottlingBurstLimit: number) => {
        return { DetailedMetricsEnabled: true, ThrottlingRateLimit, ThrottlingBurstLimit };
      };
      expect(deployed.RouteSettings).toEqual({
        $default: throttle(rate / 10, burst / 10),
        'OPTIONS /{proxy+}': throttle(rate, burst),
        ...Object.fromEntries(
          [
            'POST /transactions/bulk',
            'PUT /transactions/bulk',
            'POST /transactions/bulk/delete',
            'GET /transactions/export',
          ].flatMap((route) =>
            [route, `${route}/`].map((each) => [each, throttle(bulk, 2 * bulk)]),
          ),
        ),
      });
      const routes = resourcesOf<{ RouteKey: string }>(template, 'AWS::ApiGatewayV2::Route');
      const { DependsOn } = theOnly(template, 'AWS::ApiGatewayV2::Stage') as {
        DependsOn?: string[];
      };
      const settled = routes.filter(([name]) => DependsOn?.includes(name));
      expect(settled.map(([, { Properties }]) => Properties.RouteKey).sort()).toEqual(
        Object.keys(deployed.RouteSettings ?? {}).sort(),
      );
    });

    it('writes an access log of JSON objects', () => {
      expect(deployed.AccessLogSettings).toMatchObject({
        DestinationArn: { 'Fn::GetAtt': ['HttpApiLogGroup', 'Arn'] },
      });
      const { Format } = deployed.AccessLogSettings as { Format: string };
      expect(JSON.parse(Format)).toMatchObject({
        requestId: '$context.requestId',
        functionRequestId: '$context.integration.requestId',
        routeKey: '$context.routeKey',
        status: '$context.status',
        responseLatency: '$context.responseLatency',
        integrationLatency: '$context.integrationLatency',
        integrationError: '$context.integrationErrorMessage',
        sourceIp: '$context.identity.sourceIp',
        userAgent: '$context.identity.userAgent',
      });
    });

    it('answers preflight requests of named origins and shows them the request id', () => {
      const { CorsConfiguration } = theOnly(template, 'AWS::ApiGatewayV2::Api').Properties;
      expect(CorsConfiguration).toEqual({
        AllowOrigins: origins,
        AllowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
        AllowHeaders: [
          'Authorization',
          'Content-Type',
          'Idempotency-Key',
          'If-Match',
          'If-None-Match',
        ],
        ExposeHeaders: [
          ...['Content-Disposition', 'ETag', 'Idempotent-Replayed', 'Link'],
          ...['Retry-After', 'X-Request-Id'],
        ],
        MaxAge: 3600,
      });
    });
  },
);

describe('an address of its own', () => {
  it('leads to the API where one is named, and a record can point at it', () => {
    const template = readTemplate('migrating');
    expect(theOnly(template, 'AWS::ApiGatewayV2::DomainName').Properties).toMatchObject({
      DomainName: 'ledger.example',
      DomainNameConfigurations: [{ EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' }],
    });
    expect(theOnly(template, 'AWS::ApiGatewayV2::ApiMapping').Properties).toEqual({
      ApiId: { Ref: 'HttpApi' },
      DomainName: { Ref: 'ApiDomain' },
      Stage: { Ref: 'HttpApiStage' },
    });
    expect(template.Outputs.DomainTarget).toMatchObject({
      Value: { 'Fn::GetAtt': ['ApiDomain', 'RegionalDomainName'] },
    });
    expect(template.Resources.CanaryLambdaFunction?.Properties).toMatchObject({
      Environment: { Variables: { API_URL: 'https://ledger.example' } },
    });
  });

  it('is not there without a name', () => {
    const { Resources, Outputs } = readTemplate('prod');
    expect([Resources.ApiDomain, Outputs.DomainTarget]).toEqual([undefined, undefined]);
  });
});
