// Writes the section of each route in docs/ledger/api.md: what the route does, accepts and returns, according to the API
// description.
import { ENDPOINTS_BY_ROUTE } from '../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import { buildOpenApiDocument } from './openapi-document.ts';

const SECTION =
  /^### ((?:GET|POST|PUT|DELETE) \/\S*)\n(?:<!-- generated -->\n[\s\S]*?<!-- end -->\n)?/gm;

/** Statuses that mean the same for every route; the guide explains them only once. */
const COMMON_STATUSES = new Set(['401', '403', '413', '415', '429', '500', '503']);

/** Placeholder for a response until the test that runs the examples has received it. */
const RESPONSE_PLACEHOLDER =
  '{ "to write the response": "npm test prints a command, which copies it from .local/received/api.md" }';

interface DescribedOperation {
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** Updates the section of every described route in the text. A new route gets a section below the route declared before it. */
export function updateRouteSections(text: string): string {
  const operations = describeRoutes();
  const withAllSections = Object.keys(ENDPOINTS_BY_ROUTE).reduce(addMissingSection, text);
  return withAllSections.replace(SECTION, (section, route: string) => {
    const operation = operations.get(route);
    return operation
      ? `### ${route}\n<!-- generated -->\n${formatSection(operation).join('\n')}\n<!-- end -->\n`
      : section;
  });
}

/**
 * Lists the routes that have a section.
 * @internal A test compares them with the declared routes.
 */
export function listRoutesWithSection(text: string): string[] {
  return [...text.matchAll(SECTION)].map(([, route = '']) => route);
}

/** @param index position of the route in the declarations: the route before it already has a section */
function addMissingSection(
  text: string,
  route: string,
  index: number,
  routes: readonly string[],
): string {
  if (text.includes(`\n### ${route}\n`)) return text;
  const start = text.indexOf(`\n### ${routes[index - 1]}\n`) + 1;
  const end = text.slice(start).search(/\n##+ /) + 1;
  const section = `### ${route}\n${draftExample(route)}\n`;
  return text.slice(0, start + end) + section + text.slice(start + end);
}

/** Writes the declared example as a request; tests/ledger/contract/api-document.test.ts prints its response. */
function draftExample(route: string): string {
  const { exampleQuery = {}, example } = ENDPOINTS_BY_ROUTE[route] ?? {};
  const query = new URLSearchParams(exampleQuery).toString();
  const target = route.replace('{id}', '1') + (query && `?${query}`);
  const request = example ? `${target}\n${formatJson(example)}` : target;
  return `\`\`\`http\n${request}\n\`\`\`\n\`\`\`json\n${RESPONSE_PLACEHOLDER}\n\`\`\`\n`;
}

function formatJson(value: object): string {
  return joinLines(JSON.stringify(value, null, 1));
}

function describeRoutes(): ReadonlyMap<string, DescribedOperation> {
  const { paths } = buildOpenApiDocument();
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) =>
          [`${method.toUpperCase()} ${path}`, operation as DescribedOperation] as const,
      ),
    ),
  );
}

function formatSection({
  summary,
  description,
  security,
  parameters,
  responses,
}: DescribedOperation): string[] {
  const listNames = (location: string) =>
    parameters
      .flatMap((parameter) => (parameter.in === location ? [`\`${parameter.name}\``] : []))
      .join(', ');
  const sentences = [
    `${summary}.`,
    description,
    security && 'It needs no key.',
    listNames('query') && `Parameters: ${listNames('query')}.`,
    listNames('header') && `Headers: ${listNames('header')}.`,
  ];
  const statuses = Object.entries(responses).filter(([status]) => !COMMON_STATUSES.has(status));
  return [
    sentences.filter(Boolean).join(' '),
    '',
    '| Status | When |',
    '|---|---|',
    ...statuses.map(([status, response]) => `| ${status} | ${joinLines(response.description)} |`),
  ];
}

function joinLines(text: string): string {
  return text.replace(/\s+/g, ' ');
}
