// Figures go between their markers, and nothing else of the document changes.
import { expect, it } from 'vitest';
import { withFigures } from '../../../bench/performance-document.ts';

const DOCUMENT = `# Performance
Prose.
<!-- bench:list -->
old
<!-- /bench:list -->
More prose.
<!-- bench:writes -->
<!-- /bench:writes -->
`;

it('figures replace those between the markers of their part', () => {
  const first = withFigures(DOCUMENT, 'list', '| new |');
  expect(first).toBe(DOCUMENT.replace('old', '| new |'));
  expect(withFigures(first, 'list', 'old')).toBe(DOCUMENT);
});

it('figures of a part without markers are refused', () => {
  expect(() => withFigures(DOCUMENT, 'postgres', '| new |')).toThrow(/bench:postgres/);
});
