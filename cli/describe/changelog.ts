// Adds to the unreleased part of CHANGELOG.md each endpoint that the changelog does not name yet.
import { ENDPOINTS_BY_ROUTE } from '../../lib/ledger/http/endpoints/endpoints-by-route.ts';

const UNRELEASED = /^## \[Unreleased\]\n\n(?:### Added\n\n)?/m;

export function addNewEndpoints(changelog: string): string {
  const lines = Object.entries(ENDPOINTS_BY_ROUTE)
    .filter(([route]) => !changelog.includes(`\`${route}\``))
    .map(([route, { summary }]) => `- \`${route}\`: ${summary}.\n`);
  if (lines.length === 0) return changelog;
  return changelog.replace(UNRELEASED, (heading) =>
    heading.endsWith('Added\n\n')
      ? `${heading}${lines.join('')}`
      : `${heading}### Added\n\n${lines.join('')}\n`,
  );
}
