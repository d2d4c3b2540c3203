// A verification keeps its progress in a file, so that it can resume after an interruption.
import { randomUUID } from 'node:crypto';
import { utimes, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openFileProgress } from '../../../../cli/ledger/verification-progress.ts';

type Position = Parameters<ReturnType<typeof openFileProgress>['save']>[0];

async function saveProgress() {
  const progress = openFileProgress(randomUUID());
  onTestFinished(progress.clear);
  const position = { name: 'a test' } as unknown as Position;
  await progress.save(position);
  expect(await progress.load()).toEqual(position);
  return progress;
}

test('progress expires after a day', async () => {
  const { file, load } = await saveProgress();
  const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1_000);
  await utimes(file, yesterday, yesterday);
  expect(await load()).toBeUndefined();
});

test('truncated progress is ignored', async () => {
  const { file, load } = await saveProgress();
  await writeFile(file, 'cut short');
  expect(await load()).toBeUndefined();
});
