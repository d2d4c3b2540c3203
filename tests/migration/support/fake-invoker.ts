// A double of the invoker: each function gives the answers that a test prepared.
import type { FunctionName } from '../../../cli/migration/migrate/commands.ts';
import type { Invoker, Payload } from '../../../cli/migration/migrate/invoker.ts';
import { RUN } from './run-table.ts';

/** Status that every run has unless a test prepares another */
export const STATUS = {
  runId: RUN,
  at: '2026-03-01T09:30:00Z',
  phase: 'checked',
  phaseAt: null,
  startedAt: null,
  plan: {
    sourceCollection: 'memories',
    targetCollection: 'memories_v3_run-a',
    windowMinutes: 30,
    retentionDays: 30,
    accepts: [],
  },
  evidence: [],
  approval: null,
  pendingAction: null,
  isLate: false,
  isRepeated: false,
  hasReturned: false,
  retention: null,
  next: 'backup',
  endedAt: null,
  kept: [],
  served: [],
  takesNoWindow: null,
  refused: null,
  stages: [],
  testUser: 'tester',
  deadlineAt: null,
  progress: null,
  moves: [{ command: 'backup' }, { command: 'abort' }],
};

/** @param answers of each function, in order; an Error among them is thrown */
export function createFakeInvoker(answers: Partial<Record<FunctionName, unknown[]>>) {
  const invoked: { readonly name: FunctionName; readonly payload: Payload }[] = [];
  const invoker: Invoker = {
    stage: undefined,
    where: 'table runs at http://localhost:8000',
    async invoke(name, payload) {
      if (name !== 'status') invoked.push({ name, payload });
      const answer = answers[name]?.shift() ?? (name === 'status' ? STATUS : undefined);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { invoker, invoked };
}

export function createResult(phase: string, done = true, waitSeconds = 0) {
  return { runId: RUN, dryRun: false, phase, done, waitSeconds };
}
