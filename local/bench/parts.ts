// The parts of the bench, in the order of the document.
import type { BenchRun } from './bench-run.ts';
import { coldStart } from './cold-start.ts';
import { listCost } from './list-cost.ts';
import type { Report } from './report.ts';

export const PARTS: ReadonlyMap<string, (run: BenchRun) => Promise<Report>> = new Map([
  ['list', listCost],
  ['cold-start', coldStart],
]);
