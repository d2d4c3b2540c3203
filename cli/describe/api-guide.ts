// The text below each route's heading in docs/ledger/api.md, from the API description: what it does, takes and answers.
import { buildOpenApiDocument } from './openapi-document.ts';

const SECTION =
  /^### ((?:GET|POST|PUT|DELETE) \/\S*)\n(?:<!-- generated -->\n[\s\S]*?<!-- end -->\n)?/gm;

/** Statuses that mean the same for every route; the document explains them once. */
const USUAL = new Set(['401', '403', '413', '415', '429', '500', '503']);

interface Described {
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** The text with the section of every described route as the description has it. */
export function withRoutes(text: string): string {
  const described = describedRoutes();
  return text.replace(SECTION, (whole, route: string) => {
    const operation = described.get(route);
    return operation
      ? `### ${route}\n<!-- generated -->\n${guideLines(operation).join('\n')}\n<!-- end -->\n`
      : whole;
  });
}

/** @internal A test compares them with the routes. */
export function routesWithSection(text: string): string[] {
  return [...text.matchAll(SECTION)].map(([, route = '']) => route);
}

function describedRoutes(): ReadonlyMap<string, Described> {
  const { paths } = buildOpenApiDocument();
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) =>
          [`${method.toUpperCase()} ${path}`, operation as Described] as const,
      ),
    ),
  );
}

function guideLines({
  summary,
  description,
  security,
  parameters,
  responses,
}: Described): string[] {
  const named = (place: string) =>
    parameters.flatMap((one) => (one.in === place ? [`\`${one.name}\``] : [])).join(', ');
  const sentences = [
    `${summary}.`,
    description,
    security && 'It needs no key.',
    named('query') && `Parameters: ${named('query')}.`,
    named('header') && `Headers: ${named('header')}.`,
  ];
  const statuses = Object.entries(responses).filter(([status]) => !USUAL.has(status));
  return [
    sentences.filter(Boolean).join(' '),
    '',
    '| Status | When |',
    '|---|---|',
    ...statuses.map(([status, response]) => `| ${status} | ${oneLine(response.description)} |`),
  ];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
