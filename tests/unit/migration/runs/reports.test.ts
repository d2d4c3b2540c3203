// What is read back of a report: what was recorded, in the form that is known, or nothing.
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { parseReport, storeReport } from '../../../../lib/migration/runs/reports.ts';
import { openArtifactFolder } from '../../../support/artifact-folder.ts';
import { named } from '../../../support/migration/refused.ts';

const schema = v.object({ points: v.number() });

async function stored(more: Record<string, unknown>) {
  const { artifacts } = await openArtifactFolder();
  const clock = () => new Date('2026-03-01T09:00:00Z');
  const lease = { runId: 'run-a', epoch: 1 };
  const context = { services: { artifacts, clock }, lease };
  const reference = await storeReport(context, 'freeze-proof', { facts: {}, more });
  return { artifacts, reference };
}

test('A report comes back as it was recorded', async () => {
  const { artifacts, reference } = await stored({ points: 3, more: true });
  expect(await parseReport({ artifacts }, reference, schema)).toEqual({ points: 3 });
});

test('A report of another form is refused by the field that it has not', async () => {
  const { artifacts, reference } = await stored({ points: 'three' });
  const read = parseReport({ artifacts }, reference, schema);
  await expect(read).rejects.toEqual(
    named('RefusedMissingArtifact', /freeze-proof-1\.json is of another version.* its points/),
  );
});

test('A report that was replaced, or cut off, is refused before it is read', async () => {
  const { artifacts, reference } = await stored({ points: 3 });
  await artifacts.put(reference.artifact, [Buffer.from('{"points":')]);
  const read = parseReport({ artifacts }, reference, schema);
  await expect(read).rejects.toEqual(named('RefusedMissingArtifact', /is not what was recorded/));
});
