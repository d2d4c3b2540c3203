// The acts of the rehearsal in order. Each act begins with its own collection and run.
import type { Act } from './acts/act.ts';
import { FAILURES } from './acts/failures.ts';
import { INCIDENTS } from './acts/incidents.ts';
import { ROLLBACKS } from './acts/rollbacks.ts';

export const ACTS: readonly Act[] = [...ROLLBACKS, ...FAILURES, ...INCIDENTS];
