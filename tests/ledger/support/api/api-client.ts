// The client with which tests call the service, whether the service runs in this process or at an address.
import { assertDescribed } from './described-response.ts';

export interface ApiRequest {
  /** Parameters in the given order. A string is the whole query string, sent unchanged; its names may repeat. */
  readonly query?: Readonly<Record<string, string | number | boolean>> | string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly rawBody?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The parsed JSON of the response; an empty object if the response is CSV or has no body */
  readonly body: ResponseBody;
  readonly text: string;
}

/** The envelope of a response. Its fields have no types, because the tests check their values. */
export interface ResponseBody {
  readonly success?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire
  readonly data?: any;
  readonly message?: unknown;
  readonly pagination?: Readonly<Record<string, unknown>>;
  readonly summary?: Readonly<Record<string, unknown>>;
  readonly count?: unknown;
  readonly next?: string | null;
  readonly error?: unknown;
  readonly existing_id?: unknown;
  readonly details?: Readonly<Record<string, readonly string[]>>;
}

export interface ApiClient {
  /** @param path percent-encoded, without a query string */
  request(method: string, path: string, request?: ApiRequest): Promise<ApiResponse>;
  close(): Promise<void>;
}

/** A client with a function for each verb, which checks every response against the API description */
export interface Api extends ApiClient {
  get(path: string, query?: ApiRequest['query']): Promise<ApiResponse>;
  post(path: string, body: unknown): Promise<ApiResponse>;
  put(path: string, body: unknown): Promise<ApiResponse>;
  delete(path: string): Promise<ApiResponse>;
}

export function withVerbs(client: ApiClient): Api {
  const request: ApiClient['request'] = async (method, path, options) => {
    const response = await client.request(method, path, options);
    assertDescribed(method, path, response);
    return response;
  };
  return {
    request,
    close: client.close,
    get: (path, query) => request('GET', path, query === undefined ? {} : { query }),
    post: (path, body) => request('POST', path, { body }),
    put: (path, body) => request('PUT', path, { body }),
    delete: (path) => request('DELETE', path),
  };
}

export function formatQuery(query: ApiRequest['query']): string {
  if (query === undefined || typeof query === 'string') return query ?? '';
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return new URLSearchParams(pairs).toString();
}

export function formatBody({ body, rawBody }: ApiRequest): string | undefined {
  return body === undefined ? rawBody : JSON.stringify(body);
}

export function toApiResponse(
  status: number,
  headers: ApiResponse['headers'],
  text: string,
): ApiResponse {
  const isJson = text !== '' && !headers['content-type']?.startsWith('text/csv');
  return { status, headers, text, body: isJson ? (JSON.parse(text) as ResponseBody) : {} };
}
