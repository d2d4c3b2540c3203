// npm run seed: fills a running service with a household's history, as any client would, through its API.
import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';
import { householdCategories, householdTransactions } from './household.ts';
import { createSeedClient, SeedError } from './seed-client.ts';

const IN_FLIGHT = 8;

interface SeedSettings {
  readonly url: string;
  readonly transactions: number;
  readonly years: number;
  readonly seed: number;
}

try {
  await seed(readSettings());
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function seed({ url, transactions, years, seed }: SeedSettings): Promise<void> {
  const client = createSeedClient(url);
  const categoryIds = await client.ensureCategories(householdCategories());
  const lastDay = new Date().toISOString().slice(0, 10);
  const history = householdTransactions({ transactions, years, lastDay, seed, categoryIds });

  const bar = new cliProgress.SingleBar({ noTTYOutput: true, notTTYSchedule: 10_000 });
  bar.start(transactions, 0);
  const lane = async () => {
    for (const transaction of history) {
      await client.createTransaction(transaction);
      bar.increment();
    }
  };
  // The lanes share one generator: each takes the next transaction when its last one is recorded,
  // and none takes another once one has failed.
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane)).finally(() => {
    history.return(undefined);
    bar.stop();
  });
  console.log(`${transactions} transactions in ${categoryIds.length} categories at ${url}`);
}

function readSettings(): SeedSettings {
  const { values } = parseArgs({
    options: {
      transactions: { type: 'string', default: '20000' },
      years: { type: 'string', default: '10' },
      seed: { type: 'string', default: '1' },
      url: { type: 'string', default: `http://localhost:${process.env.PORT || '3000'}` },
    },
  });
  return {
    url: values.url.replace(/\/$/, ''),
    transactions: wholeNumber('transactions', values.transactions),
    years: wholeNumber('years', values.years),
    seed: wholeNumber('seed', values.seed),
  };
}

function wholeNumber(name: string, value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) {
    throw new SeedError(`--${name} must be a whole number from 1 on, not "${value}"`);
  }
  return Number(value);
}
