// The response to a request that matches no route: 404 for an unknown path, 405 for another method of a known path.
import { describe, expect, test } from 'vitest';
import { MethodNotAllowedError, NotFoundError } from '../../../../lib/ledger/errors.ts';
import { createRouteError, refuseFixedPath } from '../../../../lib/ledger/http/no-route.ts';
import { OPERATIONS } from '../../support/api/routes.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const ROUTES = Map.groupBy(
  OPERATIONS.map(([key]) => key.split(' ') as [method: string, path: string]),
  ([, path]) => path,
);

describe.each([...ROUTES])('the path %s', (path, routes) => {
  const servedMethods = routes.map(([method]) => method);
  const forms = path === '/' ? [path] : [path, `${path}/`];
  const paths = forms.map((form) => form.replace('{id}', '7'));

  test.each(METHODS.filter((method) => !servedMethods.includes(method)))(
    'refuses %s with 405',
    (method) => {
      for (const requested of paths) {
        const error = createRouteError(method, requested);
        expect(error).toBeInstanceOf(MethodNotAllowedError);
        expect(error).toMatchObject({ allowed: servedMethods });
      }
    },
  );

  test.each(servedMethods)(
    'refuses %s with 404, because only an encoded path that looks the same arrives here',
    (method) => {
      for (const requested of paths)
        expect(createRouteError(method, requested)).toBeInstanceOf(NotFoundError);
    },
  );
});

describe('a fixed path that a path with an id would match', () => {
  const fixedPaths = [...ROUTES].filter(([path]) =>
    /^\/(transactions|categories)\/\w+$/.test(path),
  );

  test.each(fixedPaths)('accepts only its own methods: %s', (path, routes) => {
    const servedMethods = routes.map(([method]) => method);
    for (const method of METHODS) {
      const refuse = () => refuseFixedPath(method, `${path}/`);
      if (servedMethods.includes(method)) expect(refuse).not.toThrow();
      else expect(refuse).toThrow(expect.objectContaining({ allowed: servedMethods }));
    }
  });

  test.each(['/transactions/7', '/transactions/bulk2', '/categories/bulk', '/transactions//'])(
    'is not %s',
    (path) => expect(() => refuseFixedPath('PATCH', path)).not.toThrow(),
  );
});
