// Work that consists of stages: what is there is done, and a killed step goes on with the first thing that is missing.
import type { Progress } from './run.ts';
import { type StepContext, type Waiting, waiting } from './step.ts';

export interface Stage<State> {
  readonly isDone: (state: State) => boolean;
  /**
   * What it has reached; or what it waits for, as a number of seconds where that is the vector store.
   * @param keep what is reached inside the stage
   */
  readonly advance: (
    context: StepContext,
    state: State,
    keep: Keep<State>,
  ) => Promise<Partial<State> | Waiting | number>;
}

/** Saves what was reached. @returns all that is reached by now */
export type Keep<State> = (reached: Partial<State>, progress?: Progress) => Promise<State>;

export type Reached<State> =
  | { readonly isComplete: true; readonly state: State }
  | { readonly isComplete: false; readonly wait: Waiting };

/** @param save keeps what a stage has reached, before the next one begins */
export async function takeStages<State>(
  context: StepContext,
  stages: readonly Stage<State>[],
  {
    from,
    save,
  }: {
    readonly from: State;
    readonly save: (state: State, progress?: Progress) => Promise<void>;
  },
): Promise<Reached<State>> {
  let state = from;
  const keep: Keep<State> = async (reached, progress) => {
    state = { ...state, ...reached };
    await save(state, progress);
    return state;
  };
  for (const { isDone, advance } of stages) {
    while (!isDone(state)) {
      if (!context.hasTime()) return { isComplete: false, wait: MORE_TIME };
      await context.renew();
      const next = await advance(context, state, keep);
      if (typeof next === 'number') {
        return { isComplete: false, wait: waiting('the vector store', next) };
      }
      if (isWaiting(next)) return { isComplete: false, wait: next };
      await keep(next);
    }
  }
  return { isComplete: true, state };
}

export const MORE_TIME = waiting('more time', 0);

export function isWaiting(next: unknown): next is Waiting {
  return typeof next === 'object' && next !== null && 'done' in next && next.done === false;
}

interface Passing {
  /** The stages that have passed, and how long the step had worked by then, in milliseconds. */
  readonly passed: Readonly<Record<string, number>>;
}

/** A stage that leaves no result of its own: the checkpoint lists its name. */
export function passing<State extends Passing>(
  name: string,
  work: Stage<State>['advance'],
): Stage<State> {
  return {
    isDone: ({ passed }) => name in passed,
    advance: async (context, state, keep) => {
      const next = await work(context, state, keep);
      if (typeof next === 'number' || isWaiting(next)) return next;
      return { ...next, passed: { ...state.passed, [name]: context.workedMs() } };
    },
  };
}
