// After any sequence of commands, even concurrent ones, every count, total, page and name guard equals that of a plain model.
import { beforeAll, describe, expect, it } from 'vitest';
import { createSeededRandom, type SeededRandom } from '../../../cli/seeded-random.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import { IS_FULL, scaleCases } from '../../shared/support/seed.ts';
import { createTestTable, type TestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { DAYS, makeCommand, send, swapNames } from '../support/model/commands.ts';
import { readListing } from '../support/model/ledger-listing.ts';
import {
  type Command,
  countInCategory,
  EMPTY_MODEL,
  listRefusals,
  type Model,
  type ModelFilter,
  selectTransactions,
} from '../support/model/ledger-model.ts';
import { applyOutcome, linearise, toRefusal } from '../support/model/linearisation.ts';

const SEEDS = [20_260_331, 7, 4_242].slice(0, scaleCases(3));
/** Number of rounds. Each has at least 71 commands; a swap of names counts as three. */
const ROUNDS = IS_FULL ? 10 : 4;
/** Races end differently in each run, so a rare outcome may need more rounds. */
const MAX_ROUNDS = 4 * ROUNDS;
const COMMANDS_PER_ROUND = 55;
const BATCHES_PER_ROUND = 2;
const COMMANDS_PER_BATCH = 8;
/** Average number of filters whose pages are read after each round. */
const FILTERS_PER_ROUND = 8;

/** The sequence proves nothing unless all of these occur. */
const REQUIRED_OUTCOMES = [
  ...['POST transactions 201', 'POST transactions 400', 'POST transactions 404'],
  ...['PUT transactions 200', 'PUT transactions 400', 'PUT transactions 404'],
  ...['DELETE transactions 200', 'DELETE transactions 404'],
  ...['POST categories 201', 'POST categories 409'],
  ...['PUT categories 200', 'PUT categories 404', 'PUT categories 409'],
  ...['DELETE categories 200', 'DELETE categories 404', 'DELETE categories 409'],
];

let table: TestTable;

beforeAll(async () => {
  table = await createTestTable();
});

describe.each(SEEDS)('a ledger after random commands (seed %i)', (seed) => {
  it('matches a plain model, after sequential and after concurrent commands', async () => {
    const ledgerId = `ledger-${seed}`;
    const random = createSeededRandom(seed);
    // Many records are created at one instant, and many before earlier ones.
    const instants = createSeededRandom(seed + 1);
    const clock = () => new Date(instants.integer(0, 3));
    const api = await openInProcess(createServiceOn({ ...table, ledgerId, clock }));
    const outcomes = new Set<string>();
    let model = EMPTY_MODEL;
    const isDone = (round: number) =>
      round >= ROUNDS && REQUIRED_OUTCOMES.every((each) => outcomes.has(each));
    for (let round = 0; round < MAX_ROUNDS && !isDone(round); round += 1) {
      model = await sendOneByOne(recordOutcomes(api, outcomes), model, random);
      for (let batch = 0; batch < BATCHES_PER_ROUND; batch += 1) {
        model = await sendAtOnce(api, model, random);
      }
      await expectVerified(ledgerId, model);
      await expectPages(api, model, random);
    }
    expect(model.transactions.size).toBeGreaterThan(30);
    expect([...outcomes]).toEqual(expect.arrayContaining(REQUIRED_OUTCOMES));
  });
});

async function sendOneByOne(api: Api, initial: Model, random: SeededRandom): Promise<Model> {
  let model = initial;
  for (let sent = 0; sent < COMMANDS_PER_ROUND; sent += 1) {
    const swapsNames = model.categories.size > 1 && random.chance(0.02);
    const commands = swapsNames ? swapNames(random, model) : [makeCommand(random, model)];
    for (const command of commands) model = await sendOne(api, model, command);
  }
  return model;
}

async function sendOne(api: Api, model: Model, command: Command): Promise<Model> {
  const response = await send(api, command);
  const [expected] = listRefusals(model, command);
  if (expected) {
    expect(toRefusal(response), JSON.stringify(command)).toBe(expected);
    return model;
  }
  const next = applyOutcome(model, { command, response });
  if (!next) throw new Error(`${JSON.stringify(command)} got ${response.text}`);
  return next;
}

async function sendAtOnce(api: Api, model: Model, random: SeededRandom): Promise<Model> {
  const commands = Array.from({ length: COMMANDS_PER_BATCH }, () => makeCommand(random, model));
  const outcomes = await Promise.all(
    commands.map(async (command) => ({ command, response: await send(api, command) })),
  );
  return linearise(model, outcomes, await readListing(api));
}

async function expectVerified(ledgerId: string, model: Model): Promise<void> {
  expect(await createVerification({ ...table, ledgerId }).verify()).toEqual({
    rows: model.transactions.size,
    categories: model.categories.size,
    drifts: [],
  });
}

interface Counted {
  readonly id: number;
  readonly transaction_count: number;
}

/** Compares every page of some filters with the model, in both orders. */
async function expectPages(api: Api, model: Model, random: SeededRandom): Promise<void> {
  const combinations = [undefined, 'income', 'expense'].flatMap((type) =>
    [undefined, 'none' as const, ...model.categories.keys()].map((category_id) => ({
      ...(type ? { type } : {}),
      ...(category_id ? { category_id } : {}),
    })),
  );
  const days = [random.pick(DAYS), random.pick(DAYS)].toSorted();
  const range = { start_date: days[0] ?? '', end_date: days[1] ?? '' };
  const inRange = { ...random.pick(combinations), ...range };
  for (const sort of ['date', '-date'] as const) {
    await expectList(api, model, { filter: {}, perPage: random.integer(3, 9), sort });
    await expectList(api, model, { filter: inRange, perPage: random.integer(1, 5), sort });
  }
  for (const filter of pickSome(random, combinations)) {
    await expectList(api, model, { filter, perPage: 100, sort: '-date' });
  }
  const { body } = await api.get('/categories', { active_only: false, include_counts: true });
  const counts = body.data.map(({ id, transaction_count }: Counted) => [id, transaction_count]);
  expect(new Map(counts)).toEqual(
    new Map([...model.categories.keys()].map((id) => [id, countInCategory(model, id)])),
  );
}

function pickSome<Each>(random: SeededRandom, all: readonly Each[]): Each[] {
  return all.filter(() => random.chance(FILTERS_PER_ROUND / all.length));
}

interface ListRequest {
  readonly filter: ModelFilter;
  readonly perPage: number;
  readonly sort: 'date' | '-date';
}

/** Compares all pages of a list, and the page after the last, which must be empty and have the same total. */
async function expectList(api: Api, model: Model, { filter, perPage, sort }: ListRequest) {
  const newestFirst = selectTransactions(model, filter);
  const expected = sort === 'date' ? newestFirst.reverse() : newestFirst;
  const pages = Math.ceil(expected.length / perPage);
  for (let page = 1; page <= pages + 1; page += 1) {
    const { body } = await api.get('/transactions', { ...filter, sort, page, per_page: perPage });
    const slice = expected.slice((page - 1) * perPage, page * perPage);
    expect(body.data, JSON.stringify({ filter, sort, page })).toEqual(
      slice.map((each) => expect.objectContaining({ ...each, ...categoryName(model, each) })),
    );
    expect(body.pagination).toMatchObject({ total: expected.length, pages });
  }
}

function categoryName({ categories }: Model, { category_id }: { category_id: number | null }) {
  const category = category_id === null ? undefined : categories.get(category_id);
  return category ? { category_name: category.name } : {};
}

/** Wraps the API, and records every kind of outcome. */
function recordOutcomes(api: Api, outcomes: Set<string>): Api {
  const record = <Any extends { status: number }>(request: string, response: Any): Any => {
    outcomes.add(`${request} ${response.status}`);
    return response;
  };
  const resource = (path: string) => path.split('/')[1];
  return {
    ...api,
    post: async (path, body) => record(`POST ${resource(path)}`, await api.post(path, body)),
    put: async (path, body) => record(`PUT ${resource(path)}`, await api.put(path, body)),
    delete: async (path) => record(`DELETE ${resource(path)}`, await api.delete(path)),
  };
}
