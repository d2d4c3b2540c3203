// Clients of AWS whose failures name the service, or the table, that was asked: by themselves they say neither which nor why.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Refusal } from '../refusals.ts';
import { markFailure } from '../runs/failures.ts';

type Handler = (call: never) => Promise<unknown>;

interface Client {
  readonly middlewareStack: {
    add(
      middleware: (next: Handler) => Handler,
      options: { readonly step: 'initialize'; readonly name: string },
    ): void;
  };
}

export function namedClient<Named extends Client>(client: Named, service: string): Named {
  const marking = (next: Handler) => async (call: never) => {
    try {
      return await next(call);
    } catch (error) {
      markFailure(error, service);
      throw error;
    }
  };
  client.middlewareStack.add(marking, { step: 'initialize', name: 'namedClient' });
  return client;
}

type TableClient = Pick<DynamoDBDocumentClient, 'send'>;

export function tableNamed(tableName: string, client: TableClient): TableClient {
  async function send(command: Parameters<TableClient['send']>[0]) {
    try {
      return await client.send(command);
    } catch (cause) {
      markFailure(cause, `The table ${tableName} of TABLE_NAME`);
      throw refusal(tableName, cause) ?? cause;
    }
  }

  return { send: send as TableClient['send'] };
}

function refusal(tableName: string, cause: unknown): Refusal | undefined {
  const { name, message } = cause as Error;
  if (name === 'ResourceNotFoundException') {
    const why = `TABLE_NAME is ${tableName}, and there is no such table there.`;
    return new Refusal('RefusedSetting', why, { cause });
  }
  if (name === 'ValidationException' && /key element|schema/i.test(message)) {
    const why = `TABLE_NAME is ${tableName}, which is a table with other keys.`;
    return new Refusal('RefusedSetting', why, { cause });
  }
  return undefined;
}
