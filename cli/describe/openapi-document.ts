// Builds the OpenAPI document of the service from the schemas that validate requests and from lib/ledger/http/endpoints.
import { type Endpoint, PARAMETERS } from '../../lib/ledger/http/endpoints/endpoint-declaration.ts';
import { ENDPOINTS_BY_ROUTE } from '../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import {
  type Field,
  ID,
  INTEGER,
  reference,
  STRING,
} from '../../lib/ledger/http/endpoints/response-schemas.ts';
import { IDEMPOTENCY_KEY } from '../../lib/ledger/http/idempotency.ts';
import { createFailureExample, type FailingOperation } from './failure-examples.ts';
import { describeFields, SCHEMAS } from './openapi-schemas.ts';

const ABOUT = `
Transactions and categories of a personal ledger. Every response has an \`X-Request-Id\`. A failure has \`error\`, a
\`message\` for people and, if fields are invalid, \`details\`.

**Key.** \`npm start\` needs none. On a deployed stage every request needs one:
\`npm run keys -- --stage prod create --name phone --ledger home\` prints it once. Press "Authorize" and paste it.

**Amounts** have at most 14 digits, two of them decimals. A double is exact, because it keeps 15 digits; a 32-bit float keeps
only 7.

A path or method that is not described here is answered with 404 \`not_found\` or 405 \`method_not_allowed\`, in the same
form. A refusal by the gateway itself (429, 503, a body over 10 MB) is only \`{"message": "..."}\`.`;

const TAGS: Readonly<Record<string, string>> = {
  transactions: 'Income and expenses.',
  categories: 'Groups of transactions.',
  summary: 'Sums of transactions.',
  imports: 'The rows that imports have added.',
  service: 'The service itself, and the caller.',
};

/** @returns a JSON object, complete and in a stable order */
export function buildOpenApiDocument() {
  return {
    // The newest version that generators for every language support: those for Go, and some for Rust and Kotlin, support 3.1
    // only in part.
    openapi: '3.0.3',
    info: {
      title: 'Finance ledger',
      version: '1.0.0',
      description: ABOUT.trim(),
      contact: { name: 'The maintainers of the finance ledger' },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [
      { url: '/', description: 'The service that answers with this description.' },
      { url: 'http://localhost:3000', description: '`npm start` on this machine.' },
    ],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }],
    paths: describePaths(),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key (`fl_...`), or an access token of the configured OIDC issuer.',
        },
      },
      headers: HEADERS,
      schemas: SCHEMAS,
    },
  };
}

function describePaths() {
  const paths: Record<string, Record<string, object>> = {};
  for (const [route, operation] of Object.entries(ENDPOINTS_BY_ROUTE)) {
    const [method = '', path = ''] = route.split(' ');
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = describeOperation(method, path, operation);
  }
  return paths;
}

function describeOperation(method: string, path: string, operation: Endpoint) {
  const { id, summary, description, body, example, isPublic } = operation;
  const [, resource = ''] = path.split('/');
  return {
    operationId: id,
    tags: [resource in TAGS ? resource : 'service'],
    summary,
    description: description.replace(/\s+/g, ' '),
    ...(isPublic && { security: [] }),
    parameters: [
      ...describePathParameters(path),
      ...describeQueryParameters(operation),
      ...describeHeaderParameters(method, path, operation),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: describeJsonContent(reference('schemas', body.name), example),
      },
    }),
    responses: describeResponses(method, path, operation),
  };
}

function describePathParameters(path: string) {
  if (!path.includes('{id}')) return [];
  const schema = { ...ID, maximum: Number.MAX_SAFE_INTEGER };
  return [{ name: 'id', in: 'path', required: true, ...PARAMETERS.id, schema }];
}

function describeQueryParameters({ query, exampleQuery = {} }: Endpoint) {
  if (!query) return [];
  const { fields, required } = describeFields(query);
  return Object.entries(fields).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description ? { description } : PARAMETERS[name]),
    ...(name in exampleQuery && { example: exampleQuery[name] }),
    schema,
    ...(required.includes(name) && { required: true }),
  }));
}

function describeHeaderParameters(method: string, path: string, operation: Endpoint) {
  const { isVersioned, isTagged, isIdempotent } = operation;
  const createHeader = (name: string, description: string, schema: Field) => ({
    name,
    in: 'header',
    description,
    schema: { ...STRING, ...schema },
  });
  const keyDescription = 'The same key with the same body is applied once in 24 hours.';
  if (isIdempotent) {
    return [createHeader('Idempotency-Key', keyDescription, { pattern: IDEMPOTENCY_KEY.source })];
  }
  if (isTagged) {
    const tagDescription = 'The ETag of an earlier response: 304 if nothing has changed.';
    return [createHeader('If-None-Match', tagDescription, { pattern: `^(?:W/)?${ETAG}$` })];
  }
  if (!isVersioned) return [];
  const tagPrefix = path.startsWith('/transactions') ? 't' : 'c';
  const describeTags = (tag: string) => ({
    pattern: `^(?:\\*|${tag}(?:, ?${tag})*)$`,
    example: `"${tagPrefix}1.1.0f3a9c21"`,
  });
  const ifNoneMatch =
    method === 'GET'
      ? 'ETags of this record: 304 if one of them is current.'
      : 'ETags of this record: 412 if it is at one of these versions. `*`: 412 if it exists.';
  return [
    createHeader('If-Match', 'ETags of this record: 412 if it has changed.', describeTags(ETAG)),
    createHeader('If-None-Match', ifNoneMatch, describeTags(`(?:W/)?${ETAG}`)),
  ];
}

/** Matches any entity tag, not only those of this service. */
const ETAG = '"[!#-~]*"';

/** Derives the statuses from the inputs of the operation; `failureDescriptions` adds statuses, or replaces their descriptions. */
function describeResponses(method: string, path: string, operation: Endpoint) {
  const { status = 200, body, failureDescriptions, isVersioned, isTagged } = operation;
  const descriptions = {
    ...describeCommonFailures(method, path, operation),
    ...failureDescriptions,
  };
  const failureEntries = Object.entries(descriptions).flatMap(([code, description]) =>
    description
      ? [[code, describeFailure(code, description, { method, path, hasBody: !!body })]]
      : [],
  );
  const hasTag = isTagged || (isVersioned && method !== 'DELETE');
  const notModified = {
    description: 'Nothing has changed (If-None-Match).',
    ...describeHeaders('X-Request-Id', 'ETag'),
  };
  return {
    [status]: describeSuccess(status, operation, hasTag),
    ...(hasTag && method === 'GET' && { 304: notModified }),
    ...Object.fromEntries(failureEntries),
  };
}

function describeCommonFailures(
  method: string,
  path: string,
  { body, query, isPublic, isVersioned, isIdempotent }: Endpoint,
): Record<number, string | false | undefined> {
  return {
    400:
      (body && 'The body is invalid.') ??
      (query && 'A parameter is invalid.') ??
      'A parameter was sent, but the route has none.',
    401: !isPublic && 'No valid key or token was sent.',
    403: !isPublic && 'The key or token does not allow the method.',
    404: path.includes('{id}') && 'There is no record with this id.',
    409: isIdempotent && 'A request with this Idempotency-Key is running.',
    412:
      isVersioned &&
      method !== 'POST' &&
      'The record does not have the version that If-Match or If-None-Match expects: `ETag` is its current version.',
    413: body && 'The body is larger than 1 MB.',
    415: body && 'The body is compressed.',
    422: isIdempotent && 'The Idempotency-Key was used with another body.',
    429: 'Too many requests. The gateway itself responds.',
    500: !isPublic && describeUnexpectedFailure(method !== 'GET', isIdempotent),
    503: isPublic
      ? 'The gateway has no capacity left.'
      : 'The issuer of access tokens cannot be reached, or the gateway has no capacity left.',
  };
}

function describeSuccess(status: number, operation: Endpoint, hasTag: boolean | undefined) {
  const { response, mediaType = 'application/json', isIdempotent } = operation;
  return {
    description: status === 201 ? 'Created.' : 'Done.',
    ...describeHeaders(
      'X-Request-Id',
      hasTag && 'ETag',
      status === 201 && 'Location',
      isIdempotent && 'Idempotent-Replayed',
      mediaType === 'text/csv' && 'Content-Disposition',
      mediaType === 'text/csv' && 'Link',
    ),
    content: { [mediaType]: { schema: response } },
  };
}

function describeFailure(code: string, description: string, operation: FailingOperation) {
  const schema = GATEWAY_STATUSES.includes(code) ? 'GatewayFailure' : 'Failure';
  const headers = describeHeaders(
    !GATEWAY_STATUSES.includes(code) && 'X-Request-Id',
    code === '401' && 'WWW-Authenticate',
    code === '412' && 'ETag',
    ['409', '500', '503'].includes(code) && 'Retry-After',
  );
  const content = describeJsonContent(
    reference('schemas', schema),
    createFailureExample(code, operation),
  );
  return { description, ...headers, content };
}

/** Statuses that the gateway itself may return, without the envelope. */
const GATEWAY_STATUSES = ['429', '503'];

function describeUnexpectedFailure(isWrite: boolean, isIdempotent = false): string {
  if (!isWrite) return 'An unexpected failure.';
  const advice = isIdempotent
    ? 'repeat it with its Idempotency-Key'
    : 'read the record before repeating it';
  return `An unexpected failure. The request was not applied, unless every response from the database was lost: ${advice}.`;
}

const HEADERS = {
  'X-Request-Id': { schema: STRING, required: true, description: 'The id of the request in logs.' },
  ETag: { schema: STRING, required: true, description: 'The version of the record.' },
  Location: { schema: STRING, required: true, description: 'The path of the new record.' },
  'Idempotent-Replayed': {
    schema: { ...STRING, enum: ['true'] },
    description: 'The response repeats that of an earlier request.',
  },
  'Content-Disposition': { schema: STRING, description: 'The name of the file.' },
  Link: { schema: STRING, description: 'The next part.' },
  'Retry-After': { schema: INTEGER, description: 'Seconds until a retry may succeed.' },
  'WWW-Authenticate': { schema: STRING, required: true, description: 'How to authenticate.' },
};

function describeHeaders(...names: (keyof typeof HEADERS | false | undefined)[]) {
  const included = names.filter((name) => !!name);
  const headers = included.map((name) => [name, reference('headers', name)]);
  return { headers: Object.fromEntries(headers) };
}

function describeJsonContent(schema: object, example?: object) {
  return { 'application/json': { schema, ...(example && { example }) } };
}
