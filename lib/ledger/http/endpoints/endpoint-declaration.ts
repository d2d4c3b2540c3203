// The declaration of an endpoint: its request, response, failures and throttle, stated only in this folder. The API
// description, the routes' sections of docs/ledger/api.md, the throttles and the tests of every endpoint are generated from these
// declarations. serverless.yml has the function of each endpoint and its permissions on the table. No function loads these files.
import { DEFAULT_PER_PAGE } from '../../domain/transaction.ts';
import type { ObjectSchema } from '../fields.ts';
import type { Field } from './response-schemas.ts';

/** Maximum sizes of responses and their records, in KB of 1,000 bytes. */
export const MAX_KB = {
  /** A transaction whose texts have the greatest length, each character escaped in six bytes. */
  row: 40,
  page: 4_000,
  category: 8,
  /** Lambda's limit. */
  response: 6_292,
} as const;

/** Maximum sizes in KB of responses with 400 or 404, whose messages repeat names that the client sent. */
const MAX_REFUSAL_KB = {
  /** The gateway takes 10 KB of address and headers; three bytes in the address (`%01`) may become six in JSON (`\\u0001`). */
  address: 30,
  /** Names 100 unknown fields by their beginnings, each character escaped in six bytes. */
  body: 80,
  /** Names the unknown fields of each row of a bulk body, which has at most 1 MB. */
  rows: 1_400,
} as const;

/** The schema of a body, and the name that generators of clients give to its type. */
export interface Body {
  readonly name: string;
  readonly schema: ObjectSchema;
  /** An item of the body, if the body is a list. */
  readonly item?: Body;
}

export interface Endpoint {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  /** Validates the query; without a schema, every parameter is refused. */
  readonly query?: ObjectSchema;
  /** Query of the example request, if some parameters are required. */
  readonly exampleQuery?: Readonly<Record<string, string>>;
  readonly body?: Body;
  /** Body of the example request. It succeeds on an empty ledger after the examples of the routes before it. */
  readonly example?: object;
  /** The response; `status` is its status if that is not 200. */
  readonly response: Field;
  readonly status?: number;
  /** The media type of the response, if it is not JSON. */
  readonly mediaType?: 'text/csv';
  /** The message of the response if a request fails unexpectedly (500). */
  readonly failureMessage: string;
  /**
   * Maximum size in KB of a successful response without headers, if it shows records or a list. The cost estimate of a stage
   * assumes this size.
   */
  readonly maxKb?: number;
  /** Descriptions of failures by status: they add to those that the inputs imply, or replace them; `false` removes one. */
  readonly failureDescriptions?: Readonly<Record<number, string | false>>;
  /** True if the response is one record, whose version clients can name in If-Match or If-None-Match. */
  readonly isVersioned?: boolean;
  /** True if the response is not a record, but has an ETag of what is shown, for If-None-Match. */
  readonly isTagged?: boolean;
  /** True if requests may have an Idempotency-Key. */
  readonly isIdempotent?: boolean;
  /** True if requests need no key or token. */
  readonly isPublic?: boolean;
  /**
   * The parameter of serverless.yml that limits the requests of this endpoint, if each reads or writes hundreds of the table's
   * capacity units: no client needs many of them. The other endpoints share `throttleRate`.
   */
  readonly limit?: 'bulkRate' | 'searchRate';
}

/** Returns the maximum size in KB of a response without headers, whether it succeeds or refuses. */
export function findMaxResponseKb({ body, maxKb = 0 }: Endpoint): number {
  return Math.max(maxKb, findMaxRefusalKb(body));
}

function findMaxRefusalKb(body: Body | undefined): number {
  if (body === undefined) return MAX_REFUSAL_KB.address;
  return body.item ? MAX_REFUSAL_KB.rows : MAX_REFUSAL_KB.body;
}

interface Parameter {
  readonly description: string;
  /** Value in the example request, for a required parameter. */
  readonly example?: string | number;
}

/** Parameters that mean the same in every endpoint. All others are described by their schemas. */
export const PARAMETERS: Readonly<Record<string, Parameter>> = {
  id: { description: 'The id of the record.', example: 1 },
  type: { description: 'Only income, or only expenses.' },
  category_id: { description: 'The id of a category, or `none` for transactions without one.' },
  external_id: { description: 'The id that the transaction has in another system.' },
  start_date: { description: 'The first day, inclusive.' },
  end_date: { description: 'The last day, inclusive.' },
  sort: { description: '`date`: oldest first. `-date`: newest first, which is the default.' },
  min_amount: { description: 'The smallest amount, inclusive.' },
  max_amount: { description: 'The largest amount, inclusive.' },
  page: { description: 'The number of the page, from 1.' },
  after: { description: 'The `next_cursor` of the previous page, instead of `page`.' },
  per_page: {
    description: `The number of transactions on a page, by default ${DEFAULT_PER_PAGE}.`,
  },
  active_only: { description: '`false` also shows inactive categories. `true` is the default.' },
  include_counts: {
    description: '`true` adds the number of transactions. `false` is the default.',
  },
  group_by: { description: 'How to group the sums.' },
};
