// The API as the seed uses it. Anything but the answer hoped for ends the seed with one clear line.
import type { CategoryFields } from '../lib/domain/category.ts';
import type { TransactionFields } from '../lib/domain/transaction.ts';

export class SeedError extends Error {
  override readonly name = 'SeedError';
}

interface Answer {
  readonly status: number;
  readonly body: { readonly data?: unknown; readonly message?: string };
}

interface KnownCategory {
  readonly id: number;
  readonly name: string;
}

export function createSeedClient(url: string) {
  /** Creates the categories that are missing by name. @returns ids in the order given */
  async function ensureCategories(wanted: readonly CategoryFields[]): Promise<number[]> {
    const known = (await send('GET', '/categories/?active_only=false')) as KnownCategory[];
    const idOf = new Map(known.map(({ id, name }) => [name, id]));
    const ids: number[] = [];
    for (const { name, description, color } of wanted) {
      ids.push(idOf.get(name) ?? (await createCategory({ name, description, color })));
    }
    return ids;
  }

  async function createCategory(category: object): Promise<number> {
    return ((await send('POST', '/categories/', category)) as KnownCategory).id;
  }

  async function createTransaction(fields: TransactionFields): Promise<void> {
    const { categoryId, date, ...rest } = fields;
    await send('POST', '/transactions/', {
      ...rest,
      category_id: categoryId,
      transaction_date: date,
    });
  }

  async function send(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    const { status, body: answer } = await request(method, path, body);
    if (status >= 400) {
      throw new SeedError(`${method} ${url}${path} answered ${status}: ${answer.message}`);
    }
    return answer.data;
  }

  async function request(method: string, path: string, body?: object): Promise<Answer> {
    try {
      const init = body ? { method, body: JSON.stringify(body) } : { method };
      const response = await fetch(url + path, init);
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    } catch (cause) {
      throw new SeedError(`Nothing answers at ${url}; is the service running (npm start)?`, {
        cause,
      });
    }
  }

  return { ensureCategories, createTransaction };
}
