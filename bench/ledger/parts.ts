// The parts of the bench, in the order of the document.

import type { Report } from '../report.ts';
import type { BenchRun } from './bench-run.ts';
import { measureColdStart } from './cold-start.ts';
import { measureContention } from './contention.ts';
import { compareFirstPage } from './first-page.ts';
import { measureImport } from './import.ts';
import { measureListCost } from './list-cost.ts';
import { measureNaiveCost } from './naive-cost.ts';
import { measureOneDay } from './one-day.ts';
import { measurePage } from './page.ts';
import { comparePeers } from './peers.ts';
import { comparePostgres } from './postgres.ts';
import { measureWriteCost } from './write-cost.ts';

export const PARTS: ReadonlyMap<string, (run: BenchRun) => Promise<Report>> = new Map([
  ['list', measureListCost],
  ['first-page', compareFirstPage],
  ['writes', measureWriteCost],
  ['contention', measureContention],
  ['naive', measureNaiveCost],
  ['one-day', measureOneDay],
  ['postgres', comparePostgres],
  ['peers', comparePeers],
  ['cold-start', measureColdStart],
  ['import', measureImport],
  ['page', measurePage],
]);
