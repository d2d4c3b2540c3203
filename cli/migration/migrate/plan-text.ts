// Formats the prerequisites of a migration as a checklist, and the plan in words.
import type { Plan } from '../../../lib/migration/runs/run.ts';
import { liveCollectionOf } from '../../../lib/migration/runs/run-names.ts';
import { isMet, type Prerequisite } from '../../../lib/migration/steps/prerequisites.ts';
import type { Output } from './output.ts';
import { formatCount } from './text.ts';

/** Formats a marked line for each prerequisite, its problems and remedies, and the number of prerequisites that are met */
export function formatChecklist(
  prerequisites: readonly Prerequisite[],
  { mark }: Pick<Output, 'mark'>,
): string[] {
  const failed = prerequisites.filter(({ problems }) => problems.length > 0).length;
  const unchecked = prerequisites.filter(({ isUnchecked }) => isUnchecked).length;
  const met = prerequisites.length - failed - unchecked;
  return [
    ...prerequisites.flatMap((prerequisite) => {
      const { name, detail, problems, isUnchecked } = prerequisite;
      const unmetMark = isUnchecked ? 'warning' : 'failed';
      return [
        `  ${mark(isMet(prerequisite) ? 'done' : unmetMark)} ${name}: ${detail}`,
        ...problems.map(({ why, remedy }) => `      ${why} ${remedy}`),
      ];
    }),
    `  ${met} of ${prerequisites.length} met, ${failed} not met${unchecked ? `, ${unchecked} not checked yet` : ''}`,
  ];
}

/** Says what a rollback changes, copies, removes and keeps */
export function formatRollback(plan: Plan): string[] {
  const { sourceCollection: source } = plan;
  const live = liveCollectionOf({ plan });
  if (plan.inPlace) {
    return [
      `  Changes  the deployed version on ${source}; writes stay frozen until they are opened on the old version`,
      `  Keeps    every memory and its keywords, the backups and the reports`,
    ];
  }
  return [
    `  Changes  the collection setting${plan.movesAliases ? ' and the aliases' : ''} back to ${source}, and the deployed version; writes stay frozen until they are opened on the old version`,
    `  Copies   users' writes to ${live}, if it was opened to them, back to ${source}, or to its restored snapshot if ${source} is missing or damaged`,
    `  Removes  collections that the run built and users never worked on, once writes are open again`,
    `  Keeps    collection ${source}, the collection that users leave, the backups and the reports`,
  ];
}

/** Says what the run creates, leaves out, changes, keeps and accepts */
export function formatPlan(plan: Plan): string[] {
  const { sourceCollection: source, targetCollection: target, uploadAs, accepts } = plan;
  const live = liveCollectionOf({ plan });
  const graph = accepts.includes('no-graph') ? ' if there is a graph' : '';
  const createdItems = plan.inPlace
    ? `the keyword slot in collection ${source}; ${target}, from which its settings are learned`
    : `collections ${target} and ${target}_entities${uploadAs ? `, uploaded as ${live}` : ''}`;
  const aliases = plan.movesAliases ? ', the aliases of the old collection' : '';
  const setting = plan.inPlace
    ? ''
    : `the collection setting from ${source} to ${live}${aliases}, and `;
  const deployed = plan.sameVersion ? 'a restart of the backend' : 'the deployed version';
  const keptItems = plan.inPlace ? 'the backups' : `collection ${source} and the backups`;
  const removedItems = [
    ...(plan.removesWhenOver && !plan.inPlace ? [source] : []),
    ...(plan.removesArtifactsWhenOver ? ['the backups'] : []),
  ];
  return [
    `  Creates  ${createdItems}; as artifacts a snapshot, reports and a graph dump${graph}`,
    '  Omits    the history.db of mem0, which no backup contains: copy it yourself, as docs/migration/backend.md shows',
    `  Changes  ${setting}${deployed}; no writes for up to ${formatCount(plan.windowMinutes, 'minute')}`,
    `  Keeps    ${keptItems} for ${formatCount(plan.retentionDays, 'day')} after the switch, then removes ${removedItems.join(' and ') || 'nothing'}`,
    ...(accepts.length > 0 ? [`  Accepts  ${accepts.join(', ')}`] : []),
  ];
}
