// Verifies a ledger: recomputes every count, guard and key from its rows, tells each drift, and mends it when asked to.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { StaleRecordError } from '../errors.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../retry.ts';
import { createDatabase } from '../store/database.ts';
import type { Drift } from '../store/drift/drift.ts';
import { findDrifts } from '../store/drift/find-drifts.ts';
import { readLedgerFigures } from '../store/drift/ledger-figures.ts';
import { createKeys } from '../store/keys.ts';

export interface Verdict {
  readonly rows: number;
  readonly categories: number;
  /** None in a ledger that is in order. */
  readonly drifts: readonly Drift[];
}

export interface Repair {
  readonly mended: readonly Drift[];
  /** What a new verification says. */
  readonly verdict: Verdict;
}

/** How long the indexes are given to catch up before a drift is believed. */
const SECOND_LOOK_AFTER_MS = 1_000;

export function createVerification(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly ledgerId: string;
  readonly retryPolicy?: RetryPolicy;
}) {
  const { client, tableName, ledgerId, retryPolicy = DEFAULT_RETRY_POLICY } = options;
  const keys = createKeys(ledgerId);
  const database = createDatabase({ client, tableName, retryPolicy });

  async function look(): Promise<Verdict> {
    const figures = await readLedgerFigures(database, keys);
    const { rows, categories } = figures;
    return { rows, categories: categories.length, drifts: findDrifts(keys, figures) };
  }

  /**
   * Beside other writers the figures are not of one moment: a drift is one that two looks see alike.
   * Reads all of the ledger, and all of it again where there seems to be a drift.
   */
  async function verify(): Promise<Verdict> {
    const first = await look();
    if (first.drifts.length === 0) return first;
    await retryPolicy.sleep(SECOND_LOOK_AFTER_MS);
    const second = await look();
    const seenBefore = new Set(first.drifts.map(identity));
    return { ...second, drifts: second.drifts.filter((drift) => seenBefore.has(identity(drift))) };
  }

  /** Mends what `verify` finds and can be mended, each drift by itself, and verifies again. */
  async function repair(): Promise<Repair> {
    const verdict = await verify();
    const mended: Drift[] = [];
    for (const drift of verdict.drifts) if (await mend(drift)) mended.push(drift);
    return { mended, verdict: verdict.drifts.length > 0 ? await verify() : verdict };
  }

  async function mend({ mending }: Drift): Promise<boolean> {
    if (!mending) return false;
    try {
      await database.commit(mending);
      return true;
    } catch (error) {
      // Somebody else wrote there since: the next verification tells what is left of the drift.
      if (error instanceof StaleRecordError) return false;
      throw error;
    }
  }

  return { verify, repair };
}

function identity({ what, where, recorded, recomputed }: Drift): string {
  return JSON.stringify([what, where, recorded, recomputed]);
}
