// Work in stages: a killed step resumes with the first stage that is not done.
import * as v from 'valibot';
import type { Services } from '../services.ts';
import type { Progress } from './run.ts';
import { outOfTime, type StepContext } from './step.ts';

export interface Stage<State> {
  readonly isDone: (state: State) => boolean;
  /**
   * @param keep saves what is reached inside the stage
   * @returns what the stage has reached
   */
  readonly advance: (
    context: StepContext,
    state: State,
    keep: (reached: Partial<State>, progress?: Progress) => Promise<unknown>,
  ) => Promise<Partial<State>>;
}

/**
 * @param save keeps what a stage has reached, before the next one begins
 * @returns the state once all are done
 */
export async function takeStages<State>(
  context: StepContext,
  stages: readonly Stage<State>[],
  {
    from,
    save,
  }: {
    readonly from: State;
    readonly save: (state: State, progress?: Progress) => Promise<unknown>;
  },
): Promise<State> {
  let state = from;
  const keep = async (reached: Partial<State>, progress?: Progress) => {
    state = { ...state, ...reached };
    await save(state, progress);
  };
  for (const { isDone, advance } of stages) {
    while (!isDone(state)) {
      if (!context.hasTime()) throw outOfTime();
      await context.renew();
      await keep(await advance(context, state, keep));
    }
  }
  return state;
}

const factsSchema = v.record(v.string(), v.union([v.string(), v.number()]));

/** Facts for the final report. */
export type Facts = Readonly<v.InferOutput<typeof factsSchema>>;

/** Checkpoint of named stages. */
export const passingEntries = {
  /** Passed stages: after how many milliseconds of work, and what each found. */
  passed: v.record(v.string(), v.object({ workedMs: v.number(), facts: factsSchema })),
  /** Resume point of the current stage; no other stage reads it. */
  reached: v.optional(v.unknown()),
};

const passingSchema = v.object(passingEntries);

type Passing = v.InferOutput<typeof passingSchema>;

/** Saves what the stage has reached. */
export type Save = (reached: unknown, progress?: Progress) => Promise<unknown>;

/** A named stage. @param work returns what it found */
export function passing<State extends Passing>(
  name: string,
  work: (context: StepContext, state: State, save: Save) => Promise<Facts>,
): Stage<State> {
  return {
    isDone: ({ passed }) => name in passed,
    advance: async (context, state, keep) => {
      const save: Save = async (reached, progress) =>
        await keep({ reached } as Partial<State>, progress);
      const facts = await work(context, state, save);
      const passed = { ...state.passed, [name]: { workedMs: context.workedMs(), facts } };
      return { passed, reached: undefined } as Partial<State>;
    },
  };
}

/** How far a switch has come; undefined before its first stage. */
export async function readSwitch(
  { runs }: Pick<Services, 'runs'>,
  runId: string,
  step: 'cutover' | 'rollback',
): Promise<Passing | undefined> {
  const { state } = (await runs.readCheckpoint(runId, step)) ?? {};
  return v.is(passingSchema, state) ? state : undefined;
}

/** Facts of all passed stages */
export function collectFacts({ passed }: Pick<Passing, 'passed'>): Facts {
  return Object.assign({}, ...Object.values(passed).map(({ facts }) => facts));
}
