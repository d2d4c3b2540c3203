// One packaged bundle of each kind starts in a process of its own.
import { expect, it } from 'vitest';
import { bundleOf, functionsOf, readTemplate } from '../support/packaged-template.ts';
import { startBundle } from '../support/started-bundle.ts';

it.each(['transactions/create', 'migration/backup'])('%s', (entryPoint) => {
  const found = functionsOf(readTemplate('prod')).find(([name]) => name === entryPoint);
  if (!found) throw new Error(`No function ${entryPoint}`);
  const [, properties] = found;
  const started = startBundle(bundleOf(properties), properties);
  expect(started).toMatchObject({ handler: 'function' });
});
