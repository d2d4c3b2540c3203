// Reads a query string exactly as the client sent it. Bytes that are not UTF-8 must be refused, because they would be decoded to
// the wrong text.
import type { APIGatewayProxyEventV2 } from 'aws-lambda';

/** Parameters by name. A parameter that was sent more than once has an array of values. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const ENCODED_BYTES = /(%[0-9a-f]{2})+/gi;

export const NOT_UTF8 = 'The query string is not valid UTF-8';

export function isUtf8(rawQueryString: string): boolean {
  try {
    rawQueryString.replace(ENCODED_BYTES, (bytes) => decodeURIComponent(bytes));
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads the parameters. The gateway joins the values of a repeated parameter with commas. This function keeps them separate.
 */
export function readQuery({
  rawQueryString = '',
  queryStringParameters = {},
}: Partial<Pick<APIGatewayProxyEventV2, 'rawQueryString' | 'queryStringParameters'>>): Query {
  const pairsByName = Map.groupBy(new URLSearchParams(rawQueryString), ([name]) => name);
  const repeatedParameters = [...pairsByName].filter(([, pairs]) => pairs.length > 1);
  return {
    ...queryStringParameters,
    ...Object.fromEntries(
      repeatedParameters.map(([name, pairs]) => [name, pairs.map(([, each]) => each)]),
    ),
  };
}
