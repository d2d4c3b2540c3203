// npm run seed: fills a running service with a household's history, through the API like any client.
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { isCalendarDate } from '../../../lib/ledger/domain/calendar-date.ts';
import type { TransactionFields } from '../../../lib/ledger/domain/transaction.ts';
import { USER_AGENTS } from '../../../local/user-agents.ts';
import {
  createCommand,
  createNumberParser,
  parseHttpAddress,
  runProgram,
} from '../../../processes/program.ts';
import { withProgressBar } from '../../progress.ts';
import { createServiceClient, readLocalAddress, type ServiceClient } from '../service-client.ts';
import { createHouseholdCategories, generateHouseholdTransactions } from './household.ts';

const CONCURRENT_REQUESTS = 8;

const parseCount = createNumberParser({ min: 1, max: 100_000_000 });

const command = createCommand(
  'npm run seed --',
  "Fill a running service with a household's history.",
)
  .option('--transactions <n>', 'number of transactions', parseCount, 20_000)
  .option(
    '--years <n>',
    'number of years up to the last day',
    createNumberParser({ min: 1, max: 1_000 }),
    10,
  )
  .option(
    '--until <date>',
    'the last day, such as 2026-03-31',
    parseDay,
    new Date().toISOString().slice(0, 10),
  )
  .option(
    '--seed <n>',
    'seed of the random numbers: the same seed and last day give the same history',
    parseCount,
    1,
  )
  .option('--url <url>', 'address of the service', parseHttpAddress, readLocalAddress())
  .addHelpText('after', '\nA key is read from API_KEY.')
  .action(seedService);

await runProgram(command);

interface SeedOptions {
  readonly url: string;
  readonly transactions: number;
  readonly years: number;
  readonly until: string;
  readonly seed: number;
}

function parseDay(text: string): string {
  if (isCalendarDate(text)) return text;
  throw new InvalidArgumentError('Use a date like 2026-03-31.');
}

async function seedService({ url, transactions, years, until, seed }: SeedOptions): Promise<void> {
  const key = process.env.API_KEY || undefined;
  const service = createServiceClient({ url, key, userAgent: USER_AGENTS.seed });
  const categoryIds = await ensureHouseholdCategories(service);
  const history = generateHouseholdTransactions({
    transactions,
    years,
    lastDay: until,
    seed,
    categoryIds,
  });

  await withProgressBar(transactions, async (onProgress) => {
    let createdCount = 0;
    const worker = async () => {
      for (const transaction of history) {
        await createTransaction(service, transaction);
        createdCount += 1;
        onProgress(createdCount);
      }
    };
    // The workers share one generator. Closing it after a failure stops them all.
    await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, worker)).finally(() => {
      history.return(undefined);
    });
  });
  console.log(`${transactions} transactions in ${categoryIds.length} categories at ${url}`);
}

/** Creates missing categories of the household. @returns the ids of all, in the order of `createHouseholdCategories` */
async function ensureHouseholdCategories(service: ServiceClient): Promise<number[]> {
  const categories = createHouseholdCategories().map(({ isActive: _, ...fields }) => fields);
  const ids = await service.ensureCategories(categories);
  return categories.map(({ name }) => Number(ids.get(name)));
}

async function createTransaction(service: ServiceClient, fields: TransactionFields): Promise<void> {
  const { categoryId, date, ...otherFields } = fields;
  const body = { ...otherFields, category_id: categoryId, transaction_date: date };
  await service.call<'createTransaction'>('POST', '/transactions', { body });
}
