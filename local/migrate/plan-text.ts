// The prerequisites of a migration as a checklist, and its plan in words.
import * as v from 'valibot';
import type { Plan } from '../../lib/migration/runs/run.ts';
import { liveCollectionOf } from '../../lib/migration/runs/run-names.ts';
import type { Output } from './output.ts';
import { countText } from './text.ts';

const preflightSchema = v.object({
  plan: v.looseObject({}),
  prerequisites: v.array(
    v.object({
      name: v.string(),
      detail: v.string(),
      problems: v.array(v.object({ why: v.string(), remedy: v.string() })),
    }),
  ),
});

export type PreflightReport = v.InferOutput<typeof preflightSchema>;

/** What a preflight found; undefined for the result of another step. */
export function preflightReportOf(result: unknown): PreflightReport | undefined {
  const { forecast, report } = (result ?? {}) as Record<string, unknown>;
  const found = report ?? forecast;
  return v.is(preflightSchema, found) ? found : undefined;
}

/** A tick or a cross for each prerequisite, all problems with their remedies, and how many are met. */
export function checklistLines(
  { prerequisites }: PreflightReport,
  { mark }: Pick<Output, 'mark'>,
): string[] {
  const failed = prerequisites.filter(({ problems }) => problems.length > 0).length;
  return [
    ...prerequisites.flatMap(({ name, detail, problems }) => [
      `  ${mark(problems.length === 0 ? 'done' : 'failed')} ${name}: ${detail}`,
      ...problems.map(({ why, remedy }) => `      ${why} ${remedy}`),
    ]),
    `  ${prerequisites.length - failed} of ${prerequisites.length} met, ${failed} not met`,
  ];
}

/** What a rollback changes, copies and removes, and what remains. */
export function rollbackLines(plan: Plan): string[] {
  const { sourceCollection: source } = plan;
  const live = liveCollectionOf({ plan });
  return [
    `  Changes  the collection setting back to ${source}, and the deployed version; no writes until the old version is open for them`,
    `  Copies   what users wrote to ${live}, where they were let in; if ${source} is gone, its snapshot is restored, and those writes are exported`,
    `  Removes  what the run has built, once users can write again`,
    `  Keeps    collection ${source}, the backups and the reports`,
  ];
}

/** What is created, changed and kept, and for how long. */
export function planLines(plan: Plan): string[] {
  const { sourceCollection: source, targetCollection: target, uploadAs, accepts } = plan;
  const live = liveCollectionOf({ plan });
  const removed = [
    ...(plan.removesWhenOver ? [source] : []),
    ...(plan.removesArtifactsWhenOver ? ['the backups'] : []),
  ];
  const after =
    removed.length > 0 ? `${removed.join(' and ')} removed then` : 'nothing is removed then';
  return [
    `  Creates  collections ${target} and ${target}_entities${uploadAs ? `, uploaded as ${live}` : ''}; as artifacts a snapshot, reports and a graph dump${accepts.includes('no-graph') ? ' if there is a graph' : ''}`,
    `  Changes  the collection setting from ${source} to ${live}, and the deployed version; no writes for up to ${countText(plan.windowMinutes, 'minute')}`,
    `  Keeps    collection ${source} and the backups for ${countText(plan.retentionDays, 'day')} after the switch; ${after}`,
  ];
}
