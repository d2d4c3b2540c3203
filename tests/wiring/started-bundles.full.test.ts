// Every packaged bundle starts in a process of its own, and those of the API without the slowest part of Node.
import { describe, expect, it } from 'vitest';
import {
  apiFunctionsOf,
  bundleOf,
  migrationFunctionsOf,
  readTemplate,
} from '../support/packaged-template.ts';
import { startBundle } from '../support/started-bundle.ts';

const template = readTemplate('prod');

describe('bundles of the API', () => {
  it.each(apiFunctionsOf(template))('%s', (_name, properties) => {
    const started = startBundle(bundleOf(properties), properties);
    expect(started).toEqual({ handler: 'function', undici: [] });
  });
});

describe('bundles of the migration', () => {
  it.each(migrationFunctionsOf(template))('%s', (_name, properties) => {
    const started = startBundle(bundleOf(properties), properties);
    expect(started).toMatchObject({ handler: 'function' });
  });
});
