// The acts of the rehearsal in order. Each act begins with a collection and a run of its own.
import type { Act } from './acts/act.ts';
import { INCIDENTS } from './acts/incidents.ts';
import { MISHAPS } from './acts/mishaps.ts';
import { ROLLBACKS } from './acts/rollbacks.ts';

export const ACTS: readonly Act[] = [...ROLLBACKS, ...MISHAPS, ...INCIDENTS];
