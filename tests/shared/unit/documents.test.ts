// The files and scripts that the documents name exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const PROJECT = join(import.meta.dirname, '../../..');
const PATH =
  /`((?:bench|cli|docs|functions|lib|local|processes|sandbox|serverless|tests|web)\/[\w./-]+)`/g;

const documents = readdirSync(join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));

it.each(['README.md', 'CONTRIBUTING.md', ...documents])(
  '%s names only files and scripts that exist',
  (document) => {
    const text = readFileSync(join(PROJECT, document), 'utf8');
    const paths = [...text.matchAll(PATH)].map(([, path = '']) => path);
    expect(paths.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
    const scripts = [...text.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(
      ([, script = '']) => script,
    );
    expect(scripts.filter((script) => !Object.hasOwn(manifest.scripts, script))).toEqual([]);
  },
);
