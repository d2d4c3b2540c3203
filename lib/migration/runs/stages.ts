// Work that consists of stages: what is there is done, and a killed step goes on with the first thing that is missing.
import type { StepContext } from './step.ts';

export interface Stage<State> {
  readonly isDone: (state: State) => boolean;
  /** What it has reached, or a number of seconds when there is nothing to do but wait. */
  readonly advance: (context: StepContext, state: State) => Promise<Partial<State> | number>;
}

export type Reached<State> =
  | { readonly isComplete: true; readonly state: State }
  | { readonly isComplete: false; readonly waitSeconds: number };

/** @param save keeps what a stage has reached, before the next one begins */
export async function takeStages<State>(
  context: StepContext,
  stages: readonly Stage<State>[],
  { from, save }: { readonly from: State; readonly save: (state: State) => Promise<void> },
): Promise<Reached<State>> {
  let state = from;
  for (const { isDone, advance } of stages) {
    while (!isDone(state)) {
      if (!context.hasTime()) return { isComplete: false, waitSeconds: 0 };
      await context.renew();
      const next = await advance(context, state);
      if (typeof next === 'number') return { isComplete: false, waitSeconds: next };
      state = { ...state, ...next };
      await save(state);
    }
  }
  return { isComplete: true, state };
}
