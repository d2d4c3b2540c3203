// The journal of a step that is invoked many times: each stage's result is recorded once, and a stage in progress resumes.
import { expect, it } from 'vitest';
import {
  type Journal as JournalOf,
  NOTHING_RECORDED,
  Paused,
  type RecordedJournal,
  readStage,
  resume,
} from '../../../../lib/migration/runs/journal.ts';
import { unwrapPaused } from '../../support/unwrap-paused.ts';

const PORTS = { hasTime: () => true, renewLease: async () => {}, workedMs: () => 5 };

type Journal = JournalOf<typeof PORTS>;

/** Invokes work until it is done, as the state machine would. Records pass through JSON, as they would through a table. */
function createScene() {
  let stored: string | undefined;
  const records: RecordedJournal[] = [];

  async function invoke<Result>(work: (journal: Journal) => Promise<Result>, changes = {}) {
    const { stages } = resume(
      { ...PORTS, ...changes },
      {
        cursor: stored && JSON.parse(stored),
        saveCursor: async (journal) => {
          stored = JSON.stringify(journal);
          records.push(JSON.parse(stored));
        },
      },
    );
    return await work(stages).catch(unwrapPaused);
  }

  return { invoke, records };
}

const killed = () => Promise.reject(new Error('killed'));

it('a stage that has passed returns what it found, and does not run again', async () => {
  const { invoke } = createScene();
  let attempts = 0;
  const work = (afterwards: () => Promise<unknown>) => async (journal: Journal) => {
    const counted = await journal.once('counted', async () => {
      attempts += 1;
      return { points: attempts };
    });
    const removed = await journal.once('removed', async () => {
      attempts += 1;
    });
    await afterwards();
    return [counted, removed];
  };
  await expect(invoke(work(killed))).rejects.toThrow('killed');
  expect(await invoke(work(async () => {}))).toEqual([{ points: 1 }, undefined]);
  expect(attempts).toBe(2);
});

it('a stage that is killed before it is recorded runs again', async () => {
  const { invoke, records } = createScene();
  await expect(invoke((journal) => journal.once('sent', killed))).rejects.toThrow('killed');
  expect(records).toEqual([]);
  expect(await invoke((journal) => journal.once('sent', async () => 'again'))).toBe('again');
});

it('a stage that waits ends the invocation, and the next invocation sees what it saved', async () => {
  const { invoke } = createScene();
  const work = (journal: Journal) =>
    journal.once<string, number>('readable', async ({ cursor: checks = 0, saveCursor }) => {
      await saveCursor(checks + 1);
      if (checks === 2) return `after ${checks}`;
      throw new Paused({ waitsFor: 'the vector store', waitSeconds: 7 });
    });
  expect(await invoke(work)).toEqual({ waitSeconds: 7, waitsFor: 'the vector store' });
  await invoke(work);
  expect(await invoke(work)).toBe('after 2');
  expect(await invoke((journal) => journal.once('readable', killed))).toBe('after 2');
});

it('an effect that was recorded ahead is known to a later invocation', async () => {
  const { invoke } = createScene();
  const sendOnce = async (journal: Journal) =>
    await journal.once<string, string>('asked', async ({ cursor: previous, saveCursor }) => {
      if (previous) return previous;
      await saveCursor('may have been sent');
      return await killed();
    });
  await expect(invoke(sendOnce)).rejects.toThrow('killed');
  expect(await invoke(sendOnce)).toBe('may have been sent');
});

it('a walk resumes with the page after the last recorded one', async () => {
  const { invoke, records } = createScene();
  const pages: number[] = [];
  const work = (isKilled: boolean) => (journal: Journal) =>
    journal.once<string, number>('listed', async ({ cursor: start = 0, checkpoint }) => {
      for (let page = start; page < 4; page += 1) {
        if (isKilled && page === 2) return await killed();
        pages.push(page);
        await checkpoint(() => page + 1);
      }
      return 'all';
    });
  await expect(invoke(work(true))).rejects.toThrow('killed');
  expect(await invoke(work(false))).toBe('all');
  expect(pages).toEqual([0, 1, 2, 3]);
  expect(records.at(-2)).toEqual({ passed: {}, open: { stage: 'listed', cursor: 4 } });
  expect(records.at(-1)).toEqual({ passed: { listed: { found: 'all', workedMs: 5 } } });
});

it('no stage and no page begins once time is up or the lease is lost', async () => {
  const { invoke } = createScene();
  const pages: number[] = [];
  const work = (journal: Journal) =>
    journal.once<string, number>('listed', async ({ cursor: start = 0, checkpoint }) => {
      for (let page = start; page < 4; page += 1) {
        pages.push(page);
        await checkpoint(() => page + 1);
      }
      return 'all';
    });
  const moreTime = { waitSeconds: 0, waitsFor: 'more time' };
  expect(await invoke(work, { hasTime: () => pages.length === 0 })).toEqual(moreTime);
  expect(await invoke(work, { hasTime: () => false })).toEqual(moreTime);
  const renewLease = () => Promise.reject(new Error('lease lost'));
  await expect(invoke(work, { renewLease })).rejects.toThrow('lease lost');
  expect(pages).toEqual([0]);
});

it('the cursor of a page that is not due is saved only if no time is left', async () => {
  const { invoke, records } = createScene();
  const work = (journal: Journal) =>
    journal.once<string, number>('listed', async ({ cursor: start = 0, checkpoint }) => {
      for (let page = start; page < 4; page += 1)
        await checkpoint(() => page + 1, { isDue: page === 1 });
      return 'all';
    });
  let checks = 0;
  const hasTime = () => {
    checks += 1;
    return checks < 4;
  };
  expect(await invoke(work, { hasTime })).toMatchObject({ waitsFor: 'more time' });
  expect(records.map(({ open }) => open?.cursor)).toEqual([2, 3]);
  expect(await invoke(work)).toBe('all');
});

it('a stage may have its own stages, and once it has passed only its result is recorded', async () => {
  const { invoke, records } = createScene();
  const work = (afterwards: () => Promise<unknown>) => async (journal: Journal) =>
    await journal.once('uploaded', async ({ stages }) => {
      const sent = await stages.once('sent', async () => 'to the store');
      await afterwards();
      return `${sent}, restored`;
    });
  await expect(invoke(work(killed))).rejects.toThrow('killed');
  expect(records.at(-1)?.open).toEqual({
    stage: 'uploaded',
    cursor: { passed: { sent: { found: 'to the store', workedMs: 5 } } },
  });
  expect(await invoke(work(async () => {}))).toBe('to the store, restored');
  expect(records.at(-1)).toEqual({
    passed: { uploaded: { found: 'to the store, restored', workedMs: 5 } },
  });
});

it('a journal that is discarded begins with its first stage, and the outer journal is kept', async () => {
  const { invoke, records } = createScene();
  let attempts = 0;
  await invoke(async (journal) => {
    await journal.once('listed', async () => 'before');
    await journal.once('restored', async ({ stages }) => {
      const send = async () => {
        attempts += 1;
        return attempts === 2;
      };
      while (!(await stages.once('sent', send))) await stages.rewrite(NOTHING_RECORDED);
    });
  });
  expect(attempts).toBe(2);
  expect(Object.keys(records.at(-1)?.passed ?? {})).toEqual(['listed', 'restored']);
});

it('a record that is rewritten keeps its stages', async () => {
  const { invoke, records } = createScene();
  await invoke(async (journal) => {
    await journal.once('filled', async () => 60);
    await journal.once('compared', async () => 'differs');
    const { filled } = journal.recorded.passed;
    await journal.rewrite({ passed: filled ? { filled } : {} });
  });
  const filled = { found: 60, workedMs: 5 };
  expect(records.at(-1)).toEqual({ passed: { filled } });
  await invoke((journal) => journal.once('compared', async () => 'equal'));
  const compared = { found: 'equal', workedMs: 5 };
  expect(records.at(-1)).toEqual({ passed: { filled, compared } });
});

it('the end of a step may begin at any time, and only its cursor is recorded', async () => {
  const { invoke, records } = createScene();
  const endStep = (isKilled: boolean) => (journal: Journal) =>
    journal.runLast<string, number>('carried', async ({ cursor: page = 0, saveCursor }) => {
      if (page === 0) await saveCursor(1);
      return isKilled ? await killed() : `from ${page}`;
    });
  await expect(invoke(endStep(true))).rejects.toThrow('killed');
  expect(await invoke(endStep(false), { hasTime: () => false })).toBe('from 1');
  expect(records).toEqual([{ passed: {}, open: { stage: 'carried', cursor: 1 } }]);
});

it('a journal shows the result of a stage, or its progress', async () => {
  const { invoke } = createScene();
  const readings: unknown[] = [];
  await invoke(async (journal) => {
    await journal.once<string, string>('made', async ({ saveCursor }) => {
      readings.push(readStage(journal.recorded, 'made'));
      await saveCursor('asked');
      readings.push(readStage(journal.recorded, 'made'), readStage(journal.recorded, 'later'));
      return 'a snapshot';
    });
    readings.push(readStage(journal.recorded, 'made'));
  });
  expect(readings).toEqual([undefined, 'asked', undefined, 'a snapshot']);
});

it('a context keeps its getters in all stages', async () => {
  let notes = 0;
  const ports = {
    ...PORTS,
    get notes() {
      return notes;
    },
  };
  const { stages } = resume(ports, { cursor: undefined, saveCursor: async () => {} });
  const result = await stages.once('outer', ({ stages }) =>
    stages.once('inner', async (context) => {
      notes += 1;
      return context.notes;
    }),
  );
  expect(result).toBe(1);
});
