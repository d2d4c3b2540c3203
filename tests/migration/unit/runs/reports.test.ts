// A report that does not match its schema is refused.
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { parseReport, storeReport } from '../../../../lib/migration/runs/reports.ts';
import { openArtifactFolder } from '../../support/artifact-folder.ts';
import { failureNamed } from '../../support/refused.ts';

test('A report that lacks a field is refused, and the field is named', async () => {
  const { artifacts } = await openArtifactFolder();
  const clock = () => new Date('2026-03-01T09:00:00Z');
  const context = { services: { artifacts, clock }, lease: { runId: 'run-a', epoch: 1 } };
  const report = { facts: {}, more: { points: 'three' } };
  const reference = await storeReport(context, 'preflight-report', report);
  const schema = v.object({ points: v.number() });
  await expect(parseReport({ artifacts }, reference, schema)).rejects.toEqual(
    failureNamed(
      'RefusedMissingArtifact',
      /preflight-report-1\.json was written by another version.* its points/,
    ),
  );
});
