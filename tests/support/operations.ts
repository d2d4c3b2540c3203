// The ten operations in this process: each handler made of a ledger, with whatever client that has.
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type { Ledger } from '../../lib/ledger/ledger.ts';

/** Every handler with what it answers when it fails, from the service document. */
export const FAILURES = {
  'transactions/list': 'Failed to retrieve transactions',
  'transactions/create': 'Failed to create transaction',
  'transactions/read': 'Failed to retrieve transaction',
  'transactions/update': 'Failed to update transaction',
  'transactions/delete': 'Failed to delete transaction',
  'categories/list': 'Failed to retrieve categories',
  'categories/create': 'Failed to create category',
  'categories/read': 'Failed to retrieve category',
  'categories/update': 'Failed to update category',
  'categories/delete': 'Failed to delete category',
} as const;

export type OperationName = keyof typeof FAILURES;

export interface OperationInput {
  readonly id?: number;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

export interface OperationReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

type Handler = (event: unknown, context: Context) => Promise<APIGatewayProxyStructuredResultV2>;

export async function operate(
  ledger: Ledger,
  name: OperationName,
  { id, query, body }: OperationInput = {},
): Promise<OperationReply> {
  const { createHandler } = await load(name);
  const event = {
    ...(id === undefined ? {} : { pathParameters: { id: String(id) } }),
    ...(query ? { queryStringParameters: query } : {}),
    ...(body ? { body: JSON.stringify(body) } : {}),
    isBase64Encoded: false,
  };
  const context = { awsRequestId: 'request' } as Context;
  const reply = await createHandler(ledger)(event, context);
  return { status: reply.statusCode ?? 0, body: JSON.parse(reply.body ?? '') };
}

async function load(name: OperationName): Promise<{ createHandler: (ledger: Ledger) => Handler }> {
  // A function also makes a handler of its environment, which is not used here.
  process.env.TABLE_NAME ??= 'not-used';
  const [folder, file] = name.split('/');
  return await import(`../../functions/${folder}/${file}.ts`);
}
