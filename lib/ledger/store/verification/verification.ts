// Verifies a ledger: recomputes every count, guard and key from the rows, reports each drift, and repairs drifts on request.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { StaleRecordError } from '../../../shared/errors.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../../shared/retry.ts';
import { createKeys } from '../keys.ts';
import { countAssignedIds, openTable, readLedgerItems } from '../ledger-items.ts';
import { type Drift, findDrifts } from './drifts.ts';
import { emptyFigures, type RowFigures, readLedgerFigures } from './figures.ts';

export interface Verdict {
  readonly rows: number;
  readonly categories: number;
  /** Empty for a consistent ledger. */
  readonly drifts: readonly Drift[];
}

export interface Repair {
  readonly repaired: readonly Drift[];
  /** The result of a new verification. */
  readonly verdict: Verdict;
}

/** Progress of a reading by keys. */
export interface VerificationPosition {
  /** Id of the last transaction read. */
  readonly after: number;
  readonly figures: RowFigures;
  /** Number of complete readings. */
  readonly readings: number;
  /** The drifts that every complete reading has shown. */
  readonly seen: ReadonlySet<string>;
}

/** Keeps the position of a verification, so that another process can resume it. */
export interface Progress {
  load(): Promise<VerificationPosition | undefined>;
  save(position: VerificationPosition): Promise<void>;
  clear(): Promise<void>;
}

/**
 * Number of readings before a drift is reported. Clients may write during a reading, so only a difference that every reading
 * shows is a drift.
 */
const READINGS = 3;
const READING_INTERVAL_MS = 1_000;

/**
 * Progress is saved whenever it has grown by this share. Each save writes all findings, so saving after each batch would take
 * quadratic time.
 */
const MIN_GROWTH = 1 / 20;

function createFirstPosition(): VerificationPosition {
  return { after: 0, figures: emptyFigures(), readings: 0, seen: new Set() };
}

export function createVerification(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly ledgerId: string;
  readonly retryPolicy?: RetryPolicy;
  /** Reads the whole table, instead of only the items found by the ledger's keys. */
  readonly isFull?: boolean;
  /** Keeps the progress of readings by key. A reading of the whole table always starts from the beginning. */
  readonly progress?: Progress;
}) {
  const { client, tableName, ledgerId, retryPolicy = DEFAULT_RETRY_POLICY } = options;
  const { isFull = true, progress } = options;
  const keys = createKeys(ledgerId);
  const database = openTable({ client, tableName, retryPolicy });

  /** Reads the whole ledger once, or several times if a reading shows a drift. */
  async function verify(): Promise<Verdict> {
    const savedPosition = isFull ? undefined : await progress?.load();
    let position = savedPosition ?? createFirstPosition();
    for (let isResumedReading = savedPosition !== undefined; ; isResumedReading = false) {
      const { seen } = position;
      const verdict = await read(position);
      const drifts = verdict.drifts.filter(
        (drift) => position.readings === 0 || seen.has(identify(drift)),
      );
      const readings = position.readings + 1;
      if (drifts.length === 0 || (!isResumedReading && readings === READINGS)) {
        await progress?.clear();
        return { ...verdict, drifts };
      }
      position = isResumedReading
        ? createFirstPosition()
        : { ...createFirstPosition(), readings, seen: new Set(drifts.map(identify)) };
      await retryPolicy.sleep(READING_INTERVAL_MS);
    }
  }

  async function read(position: VerificationPosition): Promise<Verdict> {
    const items = isFull ? database.scan(keys.prefix) : readByKeys(position);
    const figures = await readLedgerFigures(keys, items, position.figures);
    const { rows, categories } = figures;
    const drifts = findDrifts(keys, figures, await isListed());
    return { rows, categories: categories.length, drifts };
  }

  /** True if the ledger is in the list of ledgers, which it enters with its first record. */
  async function isListed(): Promise<boolean> {
    return (await database.get(keys.registration)) !== undefined;
  }

  function readByKeys(position: VerificationPosition) {
    let savedId = position.after;
    return readLedgerItems(database, keys, {
      after: position.after,
      onRead: async (after) => {
        if (after - savedId < savedId * MIN_GROWTH) return;
        savedId = after;
        await progress?.save({ ...position, after });
      },
    });
  }

  /** Repairs each drift that `verify` finds, if it can be repaired, and verifies again. */
  async function repair(): Promise<Repair> {
    const verdict = await verify();
    const repaired: Drift[] = [];
    for (const drift of verdict.drifts) if (await tryRepair(drift)) repaired.push(drift);
    return { repaired, verdict: verdict.drifts.length > 0 ? await verify() : verdict };
  }

  async function tryRepair({ repair }: Drift): Promise<boolean> {
    if (!repair) return false;
    try {
      await database.commit(repair);
      return true;
    } catch (error) {
      // Another request changed the item: the next verification shows whether the drift remains.
      if (error instanceof StaleRecordError) return false;
      throw error;
    }
  }

  /** The maximum number of items that one reading requests. */
  async function countItems(): Promise<number> {
    const { transaction, category } = await countAssignedIds(database, keys);
    return 2 * transaction + 2 * category;
  }

  return { verify, repair, countItems, isListed };
}

function identify({ what, where, recorded, recomputed }: Drift): string {
  return JSON.stringify([what, where, recorded, recomputed]);
}
