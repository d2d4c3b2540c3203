// The table of the runs, named where it is not there or is another: by itself the store says neither which nor why.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { markFailure } from '../ports/whose-failure.ts';
import { Refusal } from '../refusals.ts';

type Client = Pick<DynamoDBDocumentClient, 'send'>;

export function tableNamed(tableName: string, client: Client): Client {
  async function send(command: Parameters<Client['send']>[0]) {
    try {
      return await client.send(command);
    } catch (cause) {
      markFailure(cause, `The table ${tableName} of TABLE_NAME`);
      throw refusal(tableName, cause) ?? cause;
    }
  }

  return { send: send as Client['send'] };
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
