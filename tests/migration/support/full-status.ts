// The status of a run that waits for approval, with every field that the report page can show.
import type { Status } from '../../../lib/migration/steps/status.ts';
import { STATUS } from './fake-invoker.ts';
import { RUN } from './run-table.ts';

const FIGURES = {
  searched: 200,
  overlap: 0.9987,
  firstInOld: 1,
  firstInNew: 0.995,
  oldMedianMs: 4.21,
  newMedianMs: 5.03,
  oldP95Ms: 9,
  newP95Ms: 12.4,
  searchedByKeywords: 198,
  foundByKeywords: 197,
};

/** @param text stands in every field that people or stores can fill */
export function createStatus(text: string, changes: object = {}): Status {
  const reference = {
    artifact: `${RUN}/report.json`,
    digest: 'a'.repeat(64),
    recordedAt: STATUS.at,
  };
  return {
    ...STATUS,
    phase: 'copied',
    next: 'cutover',
    approvedBy: text,
    took: { backup: 141, copy: 12.5 },
    plan: { ...STATUS.plan, sourceCollection: text, accepts: ['search-parity'], uploadAs: text },
    history: [
      { phase: 'checked', at: '2026-03-01T08:00:00.000Z' },
      { phase: 'copied', at: '2026-03-01T09:00:00.000Z' },
    ],
    evidence: [
      { ...reference, kind: 'backup-manifest', facts: { users: 1_204, points: 30_000 } },
      {
        ...reference,
        kind: 'verification-report',
        facts: {
          points: 30_000,
          pending: 3,
          missing: 2,
          payload: 1,
          withoutKeywords: 0,
          examples: `"${text}"`,
          ...FIGURES,
        },
      },
    ],
    approval: {
      evidence: 'verification-report',
      digest: 'a'.repeat(64),
      forecast: {
        seconds: 300,
        estimates: [
          { stage: 'freeze', seconds: 60, basis: 'configured' },
          { stage: 'backup', seconds: 240, basis: 'measured' },
        ],
      },
    },
    takesNoWindow: text,
    ...changes,
  } as unknown as Status;
}
