// What the preflight has found, as one refusal: by the name of the first finding, and with the remedy of each.
import { REMEDIES, Refusal } from '../refusals.ts';
import type { Finding } from './preflight-checks.ts';

/** Of one kind; the report has all of them. */
const MOST_TOLD = 5;

/** Undefined where nothing is in the way. */
export function refusalOver(findings: readonly Finding[], report: string): Refusal | undefined {
  const kinds = Map.groupBy(findings, ({ name }) => name);
  const [first, ...others] = kinds;
  if (!first) return undefined;
  const [name, own] = first;
  if (others.length === 0) return new Refusal(name, `${whyOf(own)} The report is ${report}.`);
  const told = others.map(([name, found]) => `${name}: ${whyOf(found)} ${REMEDIES[name]}`);
  // The first goes last: a refusal's message ends with its own remedy.
  return new Refusal(
    name,
    `${kinds.size} kinds of obstacles, all in the report ${report}. ${told.join(' ')} ${name}: ${whyOf(own)}`,
  );
}

function whyOf(found: readonly Finding[]): string {
  const told = found.slice(0, MOST_TOLD).map(({ why }) => why);
  const more = found.length - told.length;
  return [...told, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
}
