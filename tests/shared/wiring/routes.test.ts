// Every route of the API description is on the packaged gateway, with and without a trailing slash.
import { describe, expect, it } from 'vitest';
import description from '../../../lib/ledger/http/openapi.json' with { type: 'json' };
import { isPage, OPERATIONS } from '../../ledger/support/api/routes.ts';
import {
  type FunctionProperties,
  findInvoked,
  listResources,
  readTemplate,
  STAGES,
  type Template,
  toEntryPoint,
} from '../support/packaged-template.ts';

describe.each(STAGES)('stage %s', (stage) => {
  const routes = listRoutes(readTemplate(stage));

  it.each(OPERATIONS)('routes %s and its slash form to %s', (routeKey, name) => {
    expect(routes[routeKey]).toBe(name);
    // The root path has no second form.
    expect(routes[`${routeKey}/`]).toBe(routeKey === 'GET /' ? undefined : name);
  });

  it('serves preflights on any path, and everything else by the not-found function', () => {
    expect(routes['OPTIONS /{proxy+}']).toBe('service/preflight');
    expect(routes.$default).toBe('service/not-found');
  });

  it('has no other route', () => {
    expect(Object.keys(routes)).toHaveLength((OPERATIONS.length - 1) * 2 + 1 + 2);
  });

  it('describes its routes at /openapi.json: declare a new one in lib/ledger/http/endpoints', () => {
    const described = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // Pages are for people: no program calls them, and a client made from the description needs no function for them.
    const programRoutes = Object.entries(routes).filter(
      ([key, name]) => !['OPTIONS /{proxy+}', '$default'].includes(key) && !isPage(name),
    );
    expect(described.flatMap((key) => [key, `${key}/`]).toSorted()).toEqual(
      programRoutes.map(([key]) => key).toSorted(),
    );
  });

  it('lets only the gateway invoke each function', () => {
    const template = readTemplate(stage);
    const functions = listResources<FunctionProperties>(template, 'AWS::Lambda::Function')
      .filter(([, { Properties }]) => !toEntryPoint(Properties.Handler).startsWith('migration/'))
      .map(([name]) => name);
    // The permissions of functions of the migration have their own test.
    const permissions = listResources(template, 'AWS::Lambda::Permission').filter(
      ([, { Properties }]) => !/"Migration\w+LambdaFunction"/.test(JSON.stringify(Properties)),
    );
    const invoked = permissions.map(([, { Properties }]) => {
      expect(Properties).toMatchObject({
        Action: 'lambda:InvokeFunction',
        Principal: 'apigateway.amazonaws.com',
        SourceArn: { 'Fn::Join': ['', expect.arrayContaining([{ Ref: 'HttpApi' }])] },
      });
      return findInvoked(Properties.FunctionName);
    });
    expect(invoked).toEqual(functions);
  });
});

/** Maps each route key to the entry point of the function behind its integration. */
function listRoutes(template: Template): Record<string, string> {
  const routes = listResources<RouteProperties>(template, 'AWS::ApiGatewayV2::Route');
  return Object.fromEntries(
    routes.map(([, { Properties }]) => {
      const [, [, { Ref: integration }]] = Properties.Target['Fn::Join'];
      return [Properties.RouteKey, findEntryPoint(template, integration)];
    }),
  );
}

function findEntryPoint(template: Template, integration: string): string {
  const { Properties } = template.Resources[integration] as { Properties: IntegrationProperties };
  expect(Properties).toMatchObject({ IntegrationType: 'AWS_PROXY', PayloadFormatVersion: '2.0' });
  const target = template.Resources[findInvoked(Properties.IntegrationUri)] as {
    Properties: FunctionProperties;
  };
  return toEntryPoint(target.Properties.Handler);
}

interface RouteProperties {
  readonly RouteKey: string;
  readonly Target: { readonly 'Fn::Join': [separator: string, parts: [string, { Ref: string }]] };
}

interface IntegrationProperties {
  readonly IntegrationUri: unknown;
}
