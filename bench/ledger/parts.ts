// The parts of the bench, in the order of the document.

import type { Report } from '../report.ts';
import type { BenchRun } from './bench-run.ts';
import { coldStart } from './cold-start.ts';
import { contention } from './contention.ts';
import { firstPage } from './first-page.ts';
import { importing } from './import.ts';
import { listCost } from './list-cost.ts';
import { naiveCost } from './naive-cost.ts';
import { oneDay } from './one-day.ts';
import { page } from './page.ts';
import { peers } from './peers.ts';
import { postgres } from './postgres.ts';
import { writeCost } from './write-cost.ts';

export const PARTS: ReadonlyMap<string, (run: BenchRun) => Promise<Report>> = new Map([
  ['list', listCost],
  ['first-page', firstPage],
  ['writes', writeCost],
  ['contention', contention],
  ['naive', naiveCost],
  ['one-day', oneDay],
  ['postgres', postgres],
  ['peers', peers],
  ['cold-start', coldStart],
  ['import', importing],
  ['page', page],
]);
