// The prerequisites of a migration as a checklist, and its plan in words.
import type { Plan } from '../../../lib/migration/runs/run.ts';
import { liveCollectionOf } from '../../../lib/migration/runs/run-names.ts';
import { isMet, type Prerequisite } from '../../../lib/migration/steps/prerequisites.ts';
import type { Output } from './output.ts';
import { countText } from './text.ts';

/**
 * A tick or a cross for each prerequisite, an exclamation mark where it could not be checked, all problems with their
 * remedies, and how many are met.
 */
export function checklistLines(
  prerequisites: readonly Prerequisite[],
  { mark }: Pick<Output, 'mark'>,
): string[] {
  const failed = prerequisites.filter(({ problems }) => problems.length > 0).length;
  const unchecked = prerequisites.filter(({ isUnchecked }) => isUnchecked).length;
  const met = prerequisites.length - failed - unchecked;
  return [
    ...prerequisites.flatMap((prerequisite) => {
      const { name, detail, problems, isUnchecked } = prerequisite;
      const otherwise = isUnchecked ? 'warning' : 'failed';
      return [
        `  ${mark(isMet(prerequisite) ? 'done' : otherwise)} ${name}: ${detail}`,
        ...problems.map(({ why, remedy }) => `      ${why} ${remedy}`),
      ];
    }),
    `  ${met} of ${prerequisites.length} met, ${failed} not met${unchecked ? `, ${unchecked} not checked yet` : ''}`,
  ];
}

/** Changes, copies and removals of a rollback, and what remains */
export function rollbackLines(plan: Plan): string[] {
  const { sourceCollection: source } = plan;
  const live = liveCollectionOf({ plan });
  if (plan.inPlace) {
    return [
      `  Changes  the deployed version on ${source}; no writes until the old version is open for them`,
      `  Keeps    every memory and its keywords, the backups and the reports`,
    ];
  }
  return [
    `  Changes  the collection setting${plan.movesAliases ? ' and the aliases' : ''} back to ${source}, and the deployed version; no writes until the old version is open for them`,
    `  Copies   what users wrote to ${live}, where they were let in; if ${source} is gone or damaged, to its restored snapshot`,
    `  Removes  what the run has built and users never worked on, once they can write again`,
    `  Keeps    collection ${source}, the collection that users leave, the backups and the reports`,
  ];
}

/** Collections created, changed and kept, for how long, and the accepted findings */
export function planLines(plan: Plan): string[] {
  const { sourceCollection: source, targetCollection: target, uploadAs, accepts } = plan;
  const live = liveCollectionOf({ plan });
  const graph = accepts.includes('no-graph') ? ' if there is a graph' : '';
  const made = plan.inPlace
    ? `the keyword slot in collection ${source}; ${target}, to learn it from`
    : `collections ${target} and ${target}_entities${uploadAs ? `, uploaded as ${live}` : ''}`;
  const aliases = plan.movesAliases ? ', the aliases of the old collection' : '';
  const setting = plan.inPlace
    ? ''
    : `the collection setting from ${source} to ${live}${aliases}, and `;
  const deployed = plan.sameVersion ? 'a restart of the backend' : 'the deployed version';
  const kept = plan.inPlace ? 'the backups' : `collection ${source} and the backups`;
  const removed = [
    ...(plan.removesWhenOver && !plan.inPlace ? [source] : []),
    ...(plan.removesArtifactsWhenOver ? ['the backups'] : []),
  ];
  return [
    `  Creates  ${made}; as artifacts a snapshot, reports and a graph dump${graph}`,
    '  Lacks    the history.db of mem0, which no backup has: copy it yourself, as docs/migration/backend.md shows',
    `  Changes  ${setting}${deployed}; no writes for up to ${countText(plan.windowMinutes, 'minute')}`,
    `  Keeps    ${kept} for ${countText(plan.retentionDays, 'day')} after the switch; ${removed.join(' and ') || 'nothing'} removed then`,
    ...(accepts.length > 0 ? [`  Accepts  ${accepts.join(', ')}`] : []),
  ];
}
