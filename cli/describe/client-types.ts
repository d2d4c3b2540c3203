// Extracts only the types from the generated client, and adds a map from each operation's id to the type of its response. The
// handlers, the page and the command line use these types, but send requests with their own functions.
import { ENDPOINTS_BY_ROUTE } from '../../lib/ledger/http/endpoints/endpoints-by-route.ts';

const TYPE = /^export type .*?;\n(?=export |const |\/\*\*)/gms;

/** @param client source text that oazapfts generated */
export function extractTypes(client: string): string {
  return `// Written by \`npm run describe\`.\n${(client.match(TYPE) ?? []).join('')}${writeResponseTypes()}`;
}

function writeResponseTypes(): string {
  const lines = Object.values(ENDPOINTS_BY_ROUTE).map(
    ({ id, response }) => `    ${id}: ${String(response.$ref).split('/').at(-1)};\n`,
  );
  return `/** The body of each operation's response. */\nexport type Responses = {\n${lines.join('')}};\n`;
}

/**
 * Lists the message of each operation's 500 for lib/ledger/http/failures.json, because no deployed function loads the
 * declarations.
 */
export function listFailureMessages(): Record<string, string> {
  return Object.fromEntries(
    Object.values(ENDPOINTS_BY_ROUTE).map(({ id, failureMessage }) => [id, failureMessage]),
  );
}
