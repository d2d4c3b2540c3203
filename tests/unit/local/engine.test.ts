// Which database engine is started on which machine.
import { expect, it } from 'vitest';
import { type Engine, startDatabase } from '../../../local/engine.ts';
import { createRunning } from '../../../local/processes/running.ts';
import { StartError } from '../../../local/processes/start-error.ts';

const usable = (title: string): Engine => ({
  title,
  obstacle: () => undefined,
  start: async (_, folder) => ({ title, endpoint: `http://${title}/${folder}` }),
});

const unusable = (title: string): Engine => ({
  title,
  obstacle: () => `${title} is missing`,
  start: () => {
    throw new Error(`${title} must not be started`);
  },
});

it('is the first that can run', async () => {
  const start = (...engines: Engine[]) => startDatabase(createRunning(), 'data', engines);
  expect(await start(usable('one'), usable('two'))).toMatchObject({ endpoint: 'http://one/data' });
  expect(await start(unusable('one'), usable('two'))).toMatchObject({
    title: 'two',
    endpoint: 'http://two/data',
  });
});

it('is none where none can run: one message says why, and how to start one with Docker', async () => {
  const started = startDatabase(createRunning(), 'data', [unusable('one'), unusable('two')]);
  const error = await started.catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(StartError);
  const { message } = error as StartError;
  for (const part of ['one is missing', 'two is missing', 'docker run', 'DYNAMODB_ENDPOINT=']) {
    expect(message).toContain(part);
  }
  expect(message).not.toContain('\n');
});
