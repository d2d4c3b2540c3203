// The bar asks the status while a step is at work, shows a terminal how far it is, and ends with the step.
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Place } from '../../../../local/migrate/place.ts';
import { createProgress } from '../../../../local/migrate/progress.ts';

function createTerminal(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  const shown: string[] = [];
  stream.on('data', (chunk) => shown.push(String(chunk)));
  return { output: stream as unknown as NodeJS.WriteStream, shown };
}

/** Of a copy, twenty points further with each question, the second about a former step; `copied` once it has been asked three times. */
function createCopying() {
  const { promise: copied, resolve } = Promise.withResolvers<string>();
  let asked = 0;
  const place: Place = {
    stage: undefined,
    invoke: async () => {
      asked += 1;
      if (asked === 1) throw new Error('The status is not to be had');
      if (asked === 4) resolve('copied');
      return {
        ...STANDING,
        progress: { step: asked === 2 ? 'verify' : 'copy', done: asked * 20, total: 200 },
      };
    },
  };
  return { place, copied, asked: () => asked };
}

/** What a status says besides. */
const STANDING = {
  runId: 'run-a',
  at: '',
  phase: 'rebuilt',
  plan: {},
  evidence: [],
  moves: [],
  gates: [],
};

describe('the progress', () => {
  it('is shown to a terminal, whatever becomes of one question', async () => {
    const { output, shown } = createTerminal(true);
    const { place, copied } = createCopying();
    const result = await createProgress(output, 1).during(
      { name: 'copy', place, runId: 'run-a' },
      () => copied,
    );
    expect(result).toBe('copied');
    expect(shown.join('')).toContain('60/200');
    expect(shown.join('')).not.toContain('40/200');
    expect(shown.join('')).toMatch(/\n$/);
  });

  it('is asked by nobody where nobody looks, or no run is named', async () => {
    for (const [isTTY, runId] of [
      [false, 'run-a'],
      [true, undefined],
    ] as const) {
      const { output, shown } = createTerminal(isTTY);
      const place: Place = { stage: undefined, invoke: () => Promise.reject(new Error('asked')) };
      const work = () => new Promise((resolve) => setTimeout(resolve, 20));
      await createProgress(output, 1).during({ name: 'copy', place, runId }, work);
      expect(shown).toEqual([]);
    }
  });

  it('ends with a step that fails', async () => {
    const { output } = createTerminal(true);
    const { place } = createCopying();
    const failing = createProgress(output, 1).during({ name: 'copy', place, runId: 'run-a' }, () =>
      Promise.reject(new Error('the step broke')),
    );
    await expect(failing).rejects.toThrow('the step broke');
  });
});
