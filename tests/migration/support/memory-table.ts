// A table in memory with the operations that the records of runs need: reads by key, and transactions of SET updates,
// puts and deletes under conditions. The table passes the same contract as a real one
// (tests/migration/contract/run-*.test.ts).
import { type CancellationReason, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Item } from '../../../lib/shared/database.ts';

interface MemoryTable {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  items(): readonly Item[];
}

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** One write of any kind */
interface Action {
  readonly Key?: Item | undefined;
  readonly Item?: Item | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

export function createMemoryTable(initialItems: readonly Item[] = []): MemoryTable {
  const stored = new Map(initialItems.map((item) => [formatKey(item), structuredClone(item)]));

  function transact(writes: readonly TransactItem[]): void {
    const actions = writes.map(parseAction);
    const reasons = actions.map(([, action]): CancellationReason => {
      const existing = stored.get(formatKey(action.Item ?? action.Key));
      if (isMet(action, existing)) return { Code: 'None' };
      return { Code: 'ConditionalCheckFailed', ...(existing && { Item: marshall(existing) }) };
    });
    if (reasons.some(({ Code }) => Code !== 'None')) {
      const message = 'Transaction cancelled';
      throw new TransactionCanceledException({
        message,
        $metadata: {},
        CancellationReasons: reasons,
      });
    }
    for (const [kind, action] of actions) apply(kind, action);
  }

  function apply(kind: string, action: Action): void {
    const key = formatKey(action.Item ?? action.Key);
    if (kind === 'Delete') stored.delete(key);
    if (kind === 'Put') stored.set(key, structuredClone(action.Item ?? {}));
    if (kind === 'Update') stored.set(key, applyUpdate(action, stored.get(key)));
  }

  async function send(command: unknown): Promise<unknown> {
    // Yields to other work that is ready, as a network call would.
    await Promise.resolve();
    if (command instanceof GetCommand) {
      return { Item: structuredClone(stored.get(formatKey(command.input.Key))) };
    }
    if (!(command instanceof TransactWriteCommand)) throw new Error('Unknown command');
    return transact(command.input.TransactItems ?? []);
  }

  return {
    client: { send: send as DynamoDBDocumentClient['send'] },
    tableName: 'in-memory',
    items: () => structuredClone([...stored.values()]),
  };
}

function formatKey(item: Item | undefined): string {
  return JSON.stringify([item?.pk, item?.sk]);
}

function parseAction(write: TransactItem): [kind: string, action: Action] {
  const [kind, action] = Object.entries(write)[0] ?? [];
  if (!kind || !action) throw new Error('A write without an action');
  return [kind, action];
}

/** Supports `SET a = :a, #b = :b`. */
function applyUpdate(action: Action, existing: Item | undefined): Item {
  const [, terms] = /^SET (.+)$/.exec(action.UpdateExpression ?? '') ?? [];
  if (terms === undefined) throw new Error(`Unknown update: ${action.UpdateExpression}`);
  const changes = terms.split(', ').map((term) => {
    const [name = '', placeholder = ''] = term.split(' = ');
    return [readAttribute(action, name), readValue(action, placeholder)];
  });
  return structuredClone({ ...action.Key, ...existing, ...Object.fromEntries(changes) });
}

/** Supports `attribute_not_exists(a)`, `a = :a`, `a <= :a`, AND, OR, and one pair of parentheses around an AND. */
function isMet(action: Action, existing: Item | undefined): boolean {
  const { ConditionExpression } = action;
  if (ConditionExpression === undefined) return true;
  return ConditionExpression.split(' OR ').some((all) =>
    all
      .replace(/^\((.*)\)$/, '$1')
      .split(' AND ')
      .every((term) => isTrue(action, term, existing)),
  );
}

function isTrue(action: Action, term: string, existing: Item | undefined): boolean {
  const [, absent] = /^attribute_not_exists\((\w+)\)$/.exec(term) ?? [];
  if (absent !== undefined) return existing?.[absent] === undefined;
  const [, name = '', operator, placeholder = ''] = /^(\S+) (=|<=) (:\w+)$/.exec(term) ?? [];
  if (operator === undefined) throw new Error(`Unknown condition: ${term}`);
  const stored = existing?.[readAttribute(action, name)];
  const value = readValue(action, placeholder);
  return operator === '=' ? stored === value : Number(stored) <= Number(value);
}

function readAttribute(action: Action, name: string): string {
  return action.ExpressionAttributeNames?.[name] ?? name;
}

function readValue(action: Action, placeholder: string): unknown {
  const values = action.ExpressionAttributeValues ?? {};
  if (!(placeholder in values)) throw new Error(`No value for ${placeholder}`);
  return values[placeholder];
}
