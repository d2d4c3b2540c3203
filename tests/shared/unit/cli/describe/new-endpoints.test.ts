// `npm run describe` adds a missing endpoint to the guide and the changelog.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { updateRouteSections } from '../../../../../cli/describe/api-guide.ts';
import { addNewEndpoints } from '../../../../../cli/describe/changelog.ts';

const PROJECT = join(import.meta.dirname, '../../../../..');
const read = (file: string) => readFileSync(join(PROJECT, file), 'utf8');

const CHANGELOG = read('CHANGELOG.md').replaceAll('`GET /months`', '');
const LINE = '- `GET /months`: List months and their digests.\n';

it('a new endpoint is listed among the additions of the next release', () => {
  const [, added = ''] = addNewEndpoints(CHANGELOG).split('## [Unreleased]\n\n### Added\n\n');
  expect(added.startsWith(LINE)).toBe(true);
  expect(addNewEndpoints(CHANGELOG).replace(LINE, '')).toBe(CHANGELOG);
});

it('the list of additions starts again after a release', () => {
  const released = CHANGELOG.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [9.0.0]\n');
  const expectedHead = `## [Unreleased]\n\n### Added\n\n${LINE}\n## [9.0.0]\n`;
  expect(addNewEndpoints(released)).toBe(
    released.replace('## [Unreleased]\n\n## [9.0.0]\n', expectedHead),
  );
});

it.each([
  ['GET /transactions/search?q=lunch\n', 'GET /transactions/export.json'],
  ['PUT /categories/1\n{ "color": "#264653" }\n', 'GET /categories/{id}'],
])(
  'the section of a new endpoint is drafted from its declaration, below its neighbour: %s',
  (request, neighbour) => {
    const [, route = ''] = /^(\w+ [^?\n]*)/.exec(request.replace('/1\n', '/{id}\n')) ?? [];
    const guide = read('docs/ledger/api.md');
    const sections = guide.split(/(?=^##+ )/m);
    const describes = (name: string) => (section: string) => section.startsWith(`### ${name}\n`);
    const others = sections.filter((section) => !describes(route)(section));
    const described = updateRouteSections(others.join('')).split(/(?=^##+ )/m);
    const index = described.findIndex(describes(route));
    expect(described.toSpliced(index, 1)).toEqual(others);
    expect(describes(neighbour)(described[index - 1] ?? '')).toBe(true);
    const draft = `<!-- end -->\n\`\`\`http\n${request}\`\`\`\n\`\`\`json\n{ "to write the response": `;
    expect(described[index]?.includes(draft)).toBe(true);
  },
);
