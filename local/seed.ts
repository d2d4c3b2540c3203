// npm run seed: fills a running service with a household's history, as any client would, through its API.
import cliProgress from 'cli-progress';
import type { CategoryFields } from '../lib/domain/category.ts';
import type { TransactionFields } from '../lib/domain/transaction.ts';
import { SEED_USER_AGENT } from './edge.ts';
import { householdCategories, householdTransactions } from './household.ts';
import { createCommand, httpAddress, runProgram, wholeNumber } from './program.ts';
import { StartError } from './start-error.ts';

const CONCURRENT_REQUESTS = 8;

const count = wholeNumber({ min: 1, max: 100_000_000 });

const command = createCommand(
  'npm run seed --',
  "Fill a running service with a household's history.",
)
  .option('--transactions <n>', 'how many', count, 20_000)
  .option('--years <n>', 'over how many years up to today', wholeNumber({ min: 1, max: 1_000 }), 10)
  .option('--seed <n>', 'of the random numbers: the same seed gives the same history', count, 1)
  .option('--url <url>', 'address of the service', httpAddress, serviceAddress())
  .action(seed);

await runProgram(command);

interface SeedOptions {
  readonly url: string;
  readonly transactions: number;
  readonly years: number;
  readonly seed: number;
}

async function seed({ url, transactions, years, seed }: SeedOptions): Promise<void> {
  const categoryIds = await ensureCategories(url, householdCategories());
  const lastDay = new Date().toISOString().slice(0, 10);
  const history = householdTransactions({ transactions, years, lastDay, seed, categoryIds });

  const bar = new cliProgress.SingleBar({ noTTYOutput: true, notTTYSchedule: 10_000 });
  bar.start(transactions, 0);
  const worker = async () => {
    for (const transaction of history) {
      await createTransaction(url, transaction);
      bar.increment();
    }
  };
  // The workers share one generator. Closing it after a failure stops them all.
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, worker)).finally(() => {
    history.return(undefined);
    bar.stop();
  });
  console.log(`${transactions} transactions in ${categoryIds.length} categories at ${url}`);
}

interface KnownCategory {
  readonly id: number;
  readonly name: string;
}

/** Creates the categories that are missing by name. @returns ids in the order given */
async function ensureCategories(url: string, wanted: readonly CategoryFields[]): Promise<number[]> {
  const known = (await send(url, 'GET', '/categories/?active_only=false')) as KnownCategory[];
  const idByName = new Map(known.map(({ id, name }) => [name, id]));
  const ids: number[] = [];
  for (const { name, description, color } of wanted) {
    ids.push(idByName.get(name) ?? (await createCategory(url, { name, description, color })));
  }
  return ids;
}

async function createCategory(url: string, category: object): Promise<number> {
  return ((await send(url, 'POST', '/categories/', category)) as KnownCategory).id;
}

async function createTransaction(url: string, fields: TransactionFields): Promise<void> {
  const { categoryId, date, ...rest } = fields;
  const body = { ...rest, category_id: categoryId, transaction_date: date };
  await send(url, 'POST', '/transactions/', body);
}

/** @returns the `data` of a success. @throws StartError for any other answer */
async function send(
  url: string,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<unknown> {
  const { status, answer } = await request(url + path, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  if (status >= 400) {
    throw new StartError(`${method} ${url}${path} answered ${status}: ${answer.message}`);
  }
  return answer.data;
}

interface Answer {
  readonly data?: unknown;
  readonly message?: string;
}

async function request(address: string, init: RequestInit) {
  try {
    const response = await fetch(address, { ...init, headers: { 'user-agent': SEED_USER_AGENT } });
    return { status: response.status, answer: (await response.json()) as Answer };
  } catch (cause) {
    const { origin } = new URL(address);
    throw new StartError(`Nothing answers at ${origin}. Start the service with npm start.`, {
      cause,
    });
  }
}

function serviceAddress(): string {
  return `http://localhost:${process.env.PORT || '3000'}`;
}
