// Checks the status, headers and body of a response against the API description; every field must be described.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import description from '../../../../lib/ledger/http/openapi.json' with { type: 'json' };
import { NOT_UTF8 } from '../../../../lib/ledger/http/query-string.ts';
import { findRoute } from './routes.ts';

export interface DescribedOperation {
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

/** The parts of a response that the API description covers. */
interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly body: {
    readonly success?: unknown;
    readonly error?: unknown;
    readonly message?: unknown;
  };
}

interface DescribedResponse {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>>;
}

const { schemas, headers: HEADERS } = description.components;
/** Operations by route, such as `GET /transactions/{id}` */
export const DESCRIBED = new Map<string, DescribedOperation>(
  Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      operation as DescribedOperation,
    ]),
  ),
);

// api-document.test.ts checks the schemas themselves: compiling their metaschema takes longer than compiling all of them.
const ajv = new Ajv2020({ strict: true, strictTypes: false, validateSchema: false });
addFormats.default(ajv);
for (const [name, schema] of Object.entries(schemas)) {
  const closedSchema = 'properties' in schema ? { ...schema, additionalProperties: false } : schema;
  ajv.addSchema(closedSchema, `#/components/schemas/${name}`);
}

/** Routes that also accept an earlier form of requests, and the current routes that describe the responses to that form */
const ROUTES_OF_EARLIER_FORM: Readonly<Record<string, readonly string[]>> = {
  'GET /transactions/export': ['GET /transactions/export.json'],
  'GET /summary': ['GET /summary/series'],
};

/** @throws Error if the response is not as described */
export function assertDescribed(method: string, path: string, response: ReceivedResponse): void {
  if (comesFromGateway(method, response)) return;
  const { key } = findRoute(method, path);
  // No operation describes a 405: the gateway matches GET /transactions/bulk to the route that reads a transaction.
  const keys = response.status === 405 ? [] : [key, ...(ROUTES_OF_EARLIER_FORM[key] ?? [])];
  const operations = keys.flatMap((key) => DESCRIBED.get(key) ?? []);
  const responses =
    operations.length > 0
      ? operations.map((operation) => operation.responses[response.status])
      : [describeUnrouted(response)];
  const problems = responses.map((described) => findMismatch(response, described));
  if (problems.includes(undefined)) return;
  const [problem] = problems;
  throw new Error(
    `Not as described: ${method} ${path} ${response.status}: ${problem}\n${response.text}`,
  );
}

// The gateway responds to preflights. The local gateway also serves HEAD from GET, and refuses browsers' requests from other origins.
function comesFromGateway(method: string, { status, body }: ReceivedResponse): boolean {
  if (method === 'HEAD' || body.error === 'forbidden_origin') return true;
  return method === 'OPTIONS' && status < 300;
}

function findMismatch(
  { status, headers, text, body }: ReceivedResponse,
  described: DescribedResponse | undefined,
): string | undefined {
  if (!described) return 'the status is not described';
  for (const [name, { $ref }] of Object.entries(described.headers ?? {})) {
    const header = HEADERS[$ref.split('/').at(-1) as keyof typeof HEADERS];
    if ('required' in header && !headers[name.toLowerCase()]) return `header ${name} is missing`;
  }
  if (!described.content) return text === '' ? undefined : 'the response has a body';
  const type = headers['content-type']?.split(';')[0] ?? '';
  const content = described.content[type];
  if (!content) return `the content type ${headers['content-type']} is not described`;
  const { schema } = content;
  if (body.success !== undefined && body.success !== status < 400)
    return 'the field success does not match the status';
  const validate = ajv.getSchema(schema.$ref) as ValidateFunction;
  return validate(type === 'application/json' ? body : text)
    ? undefined
    : ajv.errorsText(validate.errors);
}

// Describes a failure that belongs to no operation: a path or method without a route, or a query that is not UTF-8.
function describeUnrouted({ status, body }: ReceivedResponse): DescribedResponse | undefined {
  const schema = { $ref: '#/components/schemas/Failure' };
  return status === 404 || status === 405 || body.message === NOT_UTF8
    ? { content: { 'application/json': { schema } } }
    : undefined;
}
