// Adds DynamoDB's transaction conflicts, which local engines lack. A database transaction locks its items while it runs. Any
// other write to these items is refused at once.
import {
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Client, VirtualTime } from './virtual-time.ts';

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

export interface ContendedClient extends Client {
  /** Returns the number of writes that were refused so far. */
  readonly conflicts: () => number;
}

/** @param lockedMs milliseconds of virtual time for which a database transaction locks its items */
export function createContendedClient(
  client: Client,
  { time, lockedMs }: { readonly time: VirtualTime; readonly lockedMs: number },
): ContendedClient {
  const locked = new Set<string>();
  let conflicts = 0;

  async function transact(command: TransactWriteCommand) {
    const items = command.input.TransactItems ?? [];
    const isLocked = (item: TransactItem) => locked.has(nameItem(item));
    if (items.some(isLocked)) {
      conflicts += 1;
      throw createCancellation(command, 'TransactionConflict', isLocked);
    }
    const names = items.map(nameItem);
    for (const name of names) locked.add(name);
    try {
      await time.sleep(lockedMs);
      return await client.send(command);
    } finally {
      for (const name of names) locked.delete(name);
    }
  }

  async function send(command: Parameters<Client['send']>[0]) {
    if (command instanceof TransactWriteCommand) return await transact(command);
    if (command instanceof UpdateCommand && locked.has(nameKey(command.input.Key))) {
      conflicts += 1;
      throw new TransactionConflictException({
        message: 'Transaction is ongoing for the item',
        $metadata: { httpStatusCode: 400 },
      });
    }
    return await client.send(command);
  }

  return { send: send as Client['send'], conflicts: () => conflicts };
}

function nameItem({ Put, Update, Delete, ConditionCheck }: TransactItem): string {
  return nameKey(Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key);
}

function nameKey(key: Readonly<Record<string, unknown>> = {}): string {
  return `${key.pk} ${key.sk}`;
}

/**
 * Creates DynamoDB's error for a cancelled transaction. The error has a reason for every item.
 * @param isAtFault true for items whose reason is `Code`; by default, the first item
 */
export function createCancellation(
  { input }: TransactWriteCommand,
  Code: string,
  isAtFault: (item: TransactItem, position: number) => boolean = (_, position) => position === 0,
): TransactionCanceledException {
  const reasons = (input.TransactItems ?? []).map((item, position) => ({
    Code: isAtFault(item, position) ? Code : 'None',
  }));
  const message = `Transaction cancelled: [${reasons.map((reason) => reason.Code).join(', ')}]`;
  return new TransactionCanceledException({
    message,
    CancellationReasons: reasons,
    $metadata: { httpStatusCode: 400 },
  });
}
