// Estimates how long the next window will take, from measurements and configured times. A window that is too short is refused
// before it begins.
import { Refusal } from './refusals.ts';
import type { RecordedJournal } from './runs/journal.ts';
import type { Run } from './runs/run.ts';

/** Expected duration of one part of the window */
export interface Estimate {
  readonly stage: 'freeze' | 'backup' | 'copy' | 'upload' | 'deploy';
  readonly seconds: number;
  readonly basis: 'measured' | 'configured' | 'assumed';
}

interface WindowForecast {
  readonly estimates: readonly Estimate[];
  readonly seconds: number;
}

/** Time for a deployment, its tests and opening writes, unless it was measured or configured */
const ASSUMED_DEPLOYMENT_SECONDS = 60;

/** @param maxRate limit of points read per second */
export function forecastWindow(
  { plan, evidence, took }: Pick<Run, 'plan' | 'evidence' | 'took'>,
  maxRate = Number.POSITIVE_INFINITY,
): WindowForecast {
  const { points = 0, perSecond } = evidence['verification-report']?.facts ?? {};
  // The walk reads every point in both collections; the checks after the deployment read one collection again.
  const measuredSeconds =
    perSecond === undefined ? (took.copy ?? 0) : Number(points) / Number(perSecond);
  const walkSeconds = Math.max(measuredSeconds, Number(points) / (maxRate / 2));
  const uploadEstimates =
    plan.uploadAs === undefined ? [] : [createEstimate('upload', 2 * (took.backup ?? 0))];
  const { deploySeconds = ASSUMED_DEPLOYMENT_SECONDS } = plan;
  const isConfigured = plan.deploySeconds !== undefined;
  const estimates = [
    createEstimate('freeze', Math.max(plan.drainSeconds, took.freeze ?? 0), 'configured'),
    createEstimate('backup', plan.inPlace ? 0 : (took.backup ?? 0)),
    createEstimate('copy', walkSeconds),
    ...uploadEstimates,
    took.deploy === undefined || isConfigured
      ? createEstimate(
          'deploy',
          deploySeconds + walkSeconds / 2,
          isConfigured ? 'configured' : 'assumed',
        )
      : createEstimate('deploy', took.deploy),
  ];
  const seconds = estimates.reduce((sum, { seconds }) => sum + seconds, 0);
  return { estimates, seconds };
}

function createEstimate(
  stage: Estimate['stage'],
  seconds: number,
  basis: Estimate['basis'] = 'measured',
): Estimate {
  return { stage, seconds: Math.ceil(seconds), basis };
}

/**
 * Computes points per second. A walk of less than a second counts as a second: otherwise a few points, or a clock that was set
 * back, would make the forecast too short.
 */
export function measureSpeed(points: number, milliseconds: number): number {
  return points / Math.max(1, milliseconds / 1_000);
}

const STAGE_PARTS = [
  ['frozen', 'freeze'],
  ['backed-up', 'backup'],
  ['equal', 'copy'],
] as const;

/** Computes the seconds that each repeatable part of a window took. */
export function measureParts({ passed }: RecordedJournal): Record<string, number> {
  const secondsByPart: Record<string, number> = {};
  let previousEnd = 0;
  for (const [stage, part] of STAGE_PARTS) {
    const end = passed[stage]?.workedMs;
    if (end === undefined) break;
    secondsByPart[part] = (end - previousEnd) / 1_000;
    previousEnd = end;
  }
  return secondsByPart;
}

/** @throws Refusal with the minutes that are needed, if the window is too short */
export function assertFits({ seconds }: Pick<WindowForecast, 'seconds'>, minutes: number): void {
  if (seconds <= minutes * 60) return;
  // Includes a margin of 10 %.
  const windowMinutes = Math.ceil((seconds * 1.1) / 60);
  const why = `The window is expected to take ${seconds} s, and has ${minutes * 60} s: it needs ${windowMinutes} minutes.`;
  throw new Refusal('RefusedPrerequisites', why, { data: { windowMinutes } });
}
