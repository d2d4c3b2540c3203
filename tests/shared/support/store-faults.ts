// Faults that can hit a call to DynamoDB, and a client that injects them.
import {
  InternalServerError,
  ProvisionedThroughputExceededException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { createCancellation } from '../../../bench/ledger/contended-client.ts';

export type Client = Pick<DynamoDBDocumentClient, 'send'>;
type Command = Parameters<Client['send']>[0];

/** Replaces a call, which it can still make itself */
export type Fault = (call: () => Promise<unknown>, command: Command) => Promise<unknown>;

const CLIENT_ERROR = { $metadata: { httpStatusCode: 400 } };

/** Temporary faults: the next attempt of the same call succeeds. */
export const TEMPORARY_FAULTS = {
  conflict: async (call, command) => {
    if (command instanceof TransactWriteCommand)
      throw createCancellation(command, 'TransactionConflict');
    if (command instanceof UpdateCommand) {
      throw new TransactionConflictException({
        message: 'Transaction is ongoing',
        ...CLIENT_ERROR,
      });
    }
    // Reads do not conflict with writes.
    return await call();
  },
  throttle: async (_, command) => {
    if (command instanceof TransactWriteCommand)
      throw createCancellation(command, 'ThrottlingError');
    throw new ProvisionedThroughputExceededException({ message: 'Slow down', ...CLIENT_ERROR });
  },
  'internal error': async () => {
    const $metadata = { httpStatusCode: 500 };
    throw new InternalServerError({ message: 'Internal server error', $metadata });
  },
  'timeout before applying': async () => {
    throw createTimeout();
  },
  'timeout after applying': async (call) => {
    await call();
    throw createTimeout();
  },
  'reset after applying': async (call) => {
    await call();
    throw createSocketError('ECONNRESET');
  },
} satisfies Record<string, Fault>;

/** The store cannot be reached. */
export async function refused(): Promise<never> {
  throw createSocketError('ECONNREFUSED');
}

/** The store refuses the call, however often it is repeated. */
export async function denied(): Promise<never> {
  throw Object.assign(new Error('Not authorized'), {
    name: 'AccessDeniedException',
    ...CLIENT_ERROR,
  });
}

export interface FaultyClient extends Client {
  /** Number of calls so far, retries included */
  readonly calls: () => number;
}

/** @param faultAt the fault that hits a call, by its number from 0 and the name of its command */
export function createFaultyClient(
  client: Client,
  faultAt: (call: number, command: string) => Fault | undefined,
): FaultyClient {
  let calls = 0;
  const send = async (command: Command) => {
    const fault = faultAt(calls, command.constructor.name);
    calls += 1;
    const call = () => client.send(command);
    return fault ? await fault(call, command) : await call();
  };
  return { send: send as Client['send'], calls: () => calls };
}

function createTimeout(): Error {
  return Object.assign(new Error('No answer in time'), { name: 'TimeoutError' });
}

function createSocketError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code, $metadata: { attempts: 1 } });
}
