// The acts of the rehearsal in order. Each act begins with a collection and a run of its own.
import type { Act } from './acts/act.ts';
import { FAILURES } from './acts/failures.ts';
import { INCIDENTS } from './acts/incidents.ts';
import { ROLLBACKS } from './acts/rollbacks.ts';

export const ACTS: readonly Act[] = [...ROLLBACKS, ...FAILURES, ...INCIDENTS];
