// What cannot be packaged.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageStage } from '../support/package-service.ts';

it('refuses a store to migrate without a bucket for the artifacts', async () => {
  const folder = join(tmpdir(), 'ledger-package-without-artifacts');
  const packaged = packageStage('dev', folder, {
    parameters: { qdrantUrl: 'https://qdrant.example:6333' },
  });
  const stdout = expect.stringContaining('qdrantUrl needs artifactsUrl');
  await expect(packaged).rejects.toMatchObject({ stdout });
});

it('refuses a stage that nobody described', async () => {
  const packaged = packageStage('prdo', join(tmpdir(), 'ledger-package-of-no-stage'));
  const stdout = expect.stringContaining('Value not found at "param" source');
  await expect(packaged).rejects.toMatchObject({ stdout });
});
