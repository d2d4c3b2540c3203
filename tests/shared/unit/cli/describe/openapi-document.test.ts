// The API description that the service serves, compared with the sources that it is generated from.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { listFailureMessages } from '../../../../../cli/describe/client-types.ts';
import { buildOpenApiDocument } from '../../../../../cli/describe/openapi-document.ts';
import { SCHEMAS } from '../../../../../cli/describe/openapi-schemas.ts';
import { groupMethodsByPath, readRoutes } from '../../../../../cli/describe/routes.ts';
import { MAX_FILTERED_ROWS } from '../../../../../lib/ledger/domain/transaction.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import { listNamedSchemas } from '../../../../../lib/ledger/http/endpoints/response-schemas.ts';
import failures from '../../../../../lib/ledger/http/failures.json' with { type: 'json' };
import served from '../../../../../lib/ledger/http/openapi.json' with { type: 'json' };
import routes from '../../../../../lib/ledger/http/routes.json' with { type: 'json' };
import { isPage } from '../../../../ledger/support/api/routes.ts';

interface Parameter {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
}

test('the served description matches the routes and schemas: `npm run describe` writes it', () => {
  expect(served).toEqual(JSON.parse(JSON.stringify(buildOpenApiDocument())));
});

test('functions know the messages of failures: `npm run describe` writes lib/ledger/http/failures.json', () => {
  expect(failures).toEqual(listFailureMessages());
});

test('functions know the routes of serverless.yml: `npm run describe` writes lib/ledger/http/routes.json', () => {
  expect(routes).toEqual(groupMethodsByPath());
});

// Pages are for people: a client made from the description needs no function for them.
test('every route of serverless.yml is described: declare what is missing in lib/ledger/http/endpoints', () => {
  const programRoutes = readRoutes().filter(({ functionName }) => !isPage(functionName));
  expect(Object.keys(ENDPOINTS_BY_ROUTE).toSorted()).toEqual(
    programRoutes.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

test.each(Object.entries(served.paths))('every parameter of %s is described', (_, methods) => {
  for (const { parameters } of Object.values(methods)) {
    for (const { description = '', ...parameter } of parameters as Parameter[]) {
      expect(description, parameter.name).toMatch(/\w/);
      if (parameter.required) expect(parameter, parameter.name).toHaveProperty('example');
    }
  }
});

test('q is described as needing dates in a list, and none in an export', () => {
  const { '/transactions': list, '/transactions/export': exported } = served.paths;
  const [listText = '', exportText = ''] = [list, exported].map(
    ({ get }) => get.parameters.find(({ name }) => name === 'q')?.description,
  );
  for (const name of ['start_date', 'end_date', String(MAX_FILTERED_ROWS)]) {
    expect(listText).toContain(name);
    expect(exportText).not.toContain(name);
  }
});

test('a 500 of a creation says that the request can be repeated with its key', () => {
  const { post, get } = served.paths['/transactions'];
  expect(post.responses[500].description).toContain('Idempotency-Key');
  expect(get.responses[500].description).not.toContain('Idempotency-Key');
});

test('each name of a response schema stands for one schema', () => {
  const schemas = Object.values(ENDPOINTS_BY_ROUTE).flatMap(({ response }) =>
    listNamedSchemas(response),
  );
  for (const [name, schema] of schemas) expect(SCHEMAS[name], name).toBe(schema);
});

test('operations have distinct names', () => {
  const ids = Object.values(ENDPOINTS_BY_ROUTE).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  ['description', '', false],
  ['description', 'x'.repeat(1_000), true],
  ['description', 'x'.repeat(1_001), false],
  ['amount', 1e12, false],
  ['amount', 564.8, true],
  ['amount', 132_507.3, true],
  ['amount', 999_999_999_999.99, true],
  ['type', 'transfer', false],
  ['category_id', null, true],
  ['category_id', 1.5, false],
  ['catgeory_id', 1, false],
  ['created_at', 'ignored', true],
] as const)('a new transaction with %s %.30j matches its schema: %s', (name, value, isValid) => {
  const { post } = served.paths['/transactions'];
  const { schema } = post.requestBody.content['application/json'];
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const [component, each] of Object.entries(served.components.schemas)) {
    ajv.addSchema(each, `#/components/schemas/${component}`);
  }
  const body = { description: 'Lunch', amount: 12.5, type: 'expense', [name]: value };
  expect(ajv.validate(schema, body)).toBe(isValid);
});

describe('for client generators,', () => {
  /** Yields every schema with its place in the description. */
  function* schemasIn(value: unknown, place: string): Generator<[string, Record<string, unknown>]> {
    if (typeof value !== 'object' || value === null) return;
    const isSchema = /\/(schema|items|additionalProperties)$|\/(properties|schemas)\/[^/]+$/.test(
      place,
    );
    if (isSchema) yield [place, value as Record<string, unknown>];
    for (const [name, inner] of Object.entries(value)) yield* schemasIn(inner, `${place}/${name}`);
  }
  const schemas = [...schemasIn(served, '')];

  test('each schema has one type, and each number a format', () => {
    expect(schemas.length).toBeGreaterThan(300);
    for (const [place, { $ref, type, format, deprecated, anyOf, oneOf, allOf }] of schemas) {
      expect({ place, union: anyOf ?? oneOf ?? allOf }).toEqual({ place, union: undefined });
      if ($ref || deprecated) continue;
      expect({ place, type: typeof type }).toEqual({ place, type: 'string' });
      if (type === 'number') expect({ place, format }).toEqual({ place, format: 'double' });
      if (type === 'integer') expect(['int32', 'int64'], place).toContain(format);
    }
  });

  test('each enum consists of strings, each object has a name, and no name is a constructor in Go', () => {
    for (const [place, { type, enum: values = [], properties }] of schemas) {
      if (values)
        expect(
          (values as unknown[]).every((value) => typeof value === 'string'),
          place,
        ).toBe(true);
      if (type === 'object' && properties)
        expect(place).toMatch(/^\/components\/schemas\/(?!New)\w+$/);
    }
  });

  test('patterns occur only in requests, and mean the same in every language', () => {
    const names = JSON.stringify(served.paths).matchAll(/"requestBody".*?schemas\/(\w+)/g);
    const bodies = new Set([...names].map(([, name]) => name));
    for (const list of ['Transaction', 'Update', 'Removal']) {
      expect([...bodies].some((name) => name?.includes(list))).toBe(true);
    }
    for (const [place, { pattern }] of schemas) {
      if (typeof pattern !== 'string') continue;
      expect(place).toMatch(
        /^\/paths\/.*\/parameters\/|^\/components\/schemas\/\w+(Input|Update|UpdateItem)\//,
      );
      expect(pattern, place).toMatch(/^\^[ -~]*\$$/);
      expect(pattern, place).not.toMatch(/\\[upPkKQEG]|\(\?[^:]/);
    }
  });
});
