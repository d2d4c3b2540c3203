// npm run seed: fills a running service with a household's history, as any client would, through its API.
import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';
import { householdCategories, householdTransactions } from './household.ts';
import { createSeedClient, SeedError } from './seed-client.ts';
import { firstLine } from './start-error.ts';

const IN_FLIGHT = 8;

interface SeedSettings {
  readonly url: string;
  readonly transactions: number;
  readonly years: number;
  readonly seed: number;
}

const USAGE = `npm run seed -- [options]: fills a running service with a household's history
  --transactions N  how many (20000)
  --years Y         over how many years up to today (10)
  --seed S          of the random numbers: the same seed, the same history (1)
  --url URL         of the service (http://localhost:3000, or the PORT that is set)`;

try {
  const settings = readSettings();
  if (settings) await seed(settings);
  else console.log(USAGE);
} catch (error) {
  console.error(firstLine(error));
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

/** Undefined where nothing but the usage is asked for. */
function readSettings(): SeedSettings | undefined {
  const { values } = parseArgs({
    options: {
      transactions: { type: 'string', default: '20000' },
      years: { type: 'string', default: '10' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', short: 'h' },
      url: { type: 'string', default: `http://localhost:${process.env.PORT || '3000'}` },
    },
  });
  if (values.help) return undefined;
  return {
    url: httpAddress(values.url),
    transactions: wholeNumber('transactions', values.transactions),
    years: wholeNumber('years', values.years),
    seed: wholeNumber('seed', values.seed),
  };
}

function httpAddress(value: string): string {
  if (!/^https?:$/.test(URL.parse(value)?.protocol ?? '')) {
    throw new SeedError(`--url must be an address like http://localhost:3000, not "${value}"`);
  }
  return value.replace(/\/$/, '');
}

function wholeNumber(name: string, value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) {
    throw new SeedError(`--${name} must be a whole number from 1 on, not "${value}"`);
  }
  return Number(value);
}
