// Two concurrent requests on the same records, with their calls interleaved at random. Each pair ends as if one request had come
// after the other, and every outcome that the two orders allow occurs.
import { beforeAll, describe, expect, it } from 'vitest';
import { createContendedClient } from '../../../bench/ledger/contended-client.ts';
import {
  createVirtualRetryPolicy,
  createVirtualTime,
  type VirtualTime,
} from '../../../bench/ledger/virtual-time.ts';
import { createSeededRandom, type SeededRandom } from '../../../cli/seeded-random.ts';
import { createLedgerService } from '../../../lib/ledger/ledger.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import { oneInEvery } from '../../shared/support/quick-cases.ts';
import { IS_FULL } from '../../shared/support/seed.ts';
import type { Client } from '../../shared/support/store-faults.ts';
import { createTestTable, type TestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { LUNCH } from '../support/api/records.ts';
import { send } from '../support/model/commands.ts';
import { readListing } from '../support/model/ledger-listing.ts';
import { type Command, EMPTY_MODEL, type Model } from '../support/model/ledger-model.ts';
import { applyOutcome, linearise } from '../support/model/linearisation.ts';

/** Runs of each race in a full run; `npm test` stops as soon as every outcome has occurred. */
const INTERLEAVINGS = 12;
const MAX_CALL_MS = 30;
/** About the duration of a request, so that either request can be first */
const MAX_START_MS = 100;

const category = (name: string): Command => ({
  kind: 'create category',
  fields: { name, description: null, color: null, is_active: true },
});

const row = (category_id: number | null): Command => ({
  kind: 'create transaction',
  fields: { ...LUNCH, notes: null, transaction_date: '2026-03-05', category_id },
});

const move = (id: number, transaction_date: string): Command => ({
  kind: 'update transaction',
  id,
  changes: { transaction_date },
});

const rename = (id: number, name: string): Command => ({
  kind: 'update category',
  id,
  changes: { name },
});

/** Commands that create category 1 Food with transaction 1, category 2 Pay, and transaction 2 without a category */
const INITIAL_COMMANDS = [category('Food'), category('Pay'), row(1), row(null)];

interface Race {
  readonly title: string;
  readonly commands: readonly Command[];
  /** Possible statuses, in the order of the commands; each outcome must occur. */
  readonly outcomes: readonly string[];
}

const RACES: readonly Race[] = [
  {
    title: 'two moves of one transaction to different days',
    commands: [move(1, '2025-12-31'), move(1, '2026-04-01')],
    outcomes: ['200 200'],
  },
  {
    title: 'a move and a deletion of one transaction',
    commands: [move(1, '2025-12-31'), { kind: 'delete transaction', id: 1 }],
    outcomes: ['200 200', '404 200'],
  },
  {
    title: 'two deletions of one transaction',
    commands: [
      { kind: 'delete transaction', id: 1 },
      { kind: 'delete transaction', id: 1 },
    ],
    outcomes: ['200 404', '404 200'],
  },
  {
    title: 'a deletion of a category and a new transaction in it',
    commands: [{ kind: 'delete category', id: 2 }, row(2)],
    outcomes: ['200 400', '409 201'],
  },
  {
    title: 'a deactivation of a category and a transaction that joins it',
    commands: [
      { kind: 'update category', id: 2, changes: { is_active: false } },
      { kind: 'update transaction', id: 2, changes: { category_id: 2 } },
    ],
    outcomes: ['200 200', '200 400'],
  },
  {
    title: 'the deletion of a category and of its last transaction',
    commands: [
      { kind: 'delete category', id: 1 },
      { kind: 'delete transaction', id: 1 },
    ],
    outcomes: ['200 200', '409 200'],
  },
  {
    title: 'two new categories with the same name',
    commands: [category('Fun'), category('Fun')],
    outcomes: ['201 409', '409 201'],
  },
  {
    title: 'two categories renamed to the same name',
    commands: [rename(1, 'Fun'), rename(2, 'Fun')],
    outcomes: ['200 409', '409 200'],
  },
  {
    title: 'two renames of one category',
    commands: [rename(1, 'Fun'), rename(1, 'Joy')],
    outcomes: ['200 200'],
  },
  {
    title: 'two renames, one of them to the name that the other frees',
    commands: [rename(1, 'Fun'), rename(2, 'Food')],
    outcomes: ['200 200', '200 409'],
  },
  {
    title: 'two moves in opposite directions between two categories',
    commands: [
      { kind: 'update transaction', id: 1, changes: { category_id: 2 } },
      { kind: 'update transaction', id: 2, changes: { category_id: 1 } },
    ],
    outcomes: ['200 200'],
  },
];

let table: TestTable;

beforeAll(async () => {
  table = await createTestTable();
});

describe.each(oneInEvery(2, RACES))('$title', ({ title, commands, outcomes }) => {
  it(`end with ${outcomes.join(', or ')}, as if one request had followed the other`, async () => {
    const seenOutcomes = new Set<string>();
    for (let seed = 1; seed <= INTERLEAVINGS; seed += 1) {
      const ledgerId = `race-${RACES.findIndex((each) => each.title === title)}-${seed}`;
      const direct = await openInProcess(createServiceOn({ ...table, ledgerId }));
      const model = await givenModel(direct);
      const responses = await race(ledgerId, commands, createSeededRandom(seed));
      seenOutcomes.add(responses.map(({ response }) => response.status).join(' '));
      linearise(model, responses, await readListing(direct));
      expect((await createVerification({ ...table, ledgerId }).verify()).drifts).toEqual([]);
      if (seenOutcomes.size === outcomes.length && !IS_FULL) break;
    }
    expect([...seenOutcomes].toSorted()).toEqual(outcomes);
  });
});

async function givenModel(api: Api): Promise<Model> {
  let model = EMPTY_MODEL;
  for (const command of INITIAL_COMMANDS) {
    const next = applyOutcome(model, { command, response: await send(api, command) });
    if (!next) throw new Error('A command before the race failed');
    model = next;
  }
  return model;
}

/** Sends each command from a separate service, after a random delay. Calls to the table take random times. */
async function race(ledgerId: string, commands: readonly Command[], random: SeededRandom) {
  const time = createVirtualTime();
  const store = createContendedClient(time.watch(table.client), { time, lockedMs: 20 });
  const client = createDelayedClient(store, time, random);
  const options = { ...table, ledgerId, timeZone: 'UTC' };
  const retryPolicy = createVirtualRetryPolicy(time, random.next);
  const { timeoutSignal } = time;
  const apis = await Promise.all(
    commands.map(() =>
      openInProcess(createLedgerService({ ...options, client, retryPolicy, timeoutSignal })),
    ),
  );
  const responses = commands.map(async (command, index) => {
    const api = apis[index];
    if (!api) throw new RangeError('Each command needs a service');
    await time.sleep(random.between(0, MAX_START_MS));
    return { command, response: await send(api, command) };
  });
  return await time.run(Promise.all(responses));
}

function createDelayedClient(client: Client, time: VirtualTime, random: SeededRandom): Client {
  const send = async (command: Parameters<Client['send']>[0]) => {
    await time.sleep(random.between(0, MAX_CALL_MS));
    const result = await client.send(command);
    await time.sleep(random.between(0, MAX_CALL_MS));
    return result;
  };
  return { send: send as Client['send'] };
}
