// npm run bench: measures the service and writes the figures into docs/performance.md.
//   npm run bench                  every part
//   npm run bench -- list writes   some parts
//   npm run bench -- --quick       smaller ledgers; the figures are shown and not written down
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { speakLocally } from '../local-access.ts';
import { createRunning } from '../running.ts';
import { createBenchRun } from './bench-run.ts';
import { describeMachine } from './machine.ts';
import { PARTS } from './parts.ts';
import { withFigures } from './performance-document.ts';
import { type Report, toMarkdown } from './report.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/performance.md');

let running = createRunning();
process.once('SIGINT', () => leave(130));
process.once('SIGTERM', () => leave(143));

speakLocally(process.env);

try {
  const { quick, names } = readArguments();
  let missed = 0;
  for (const name of names) missed += missedBars(await measure(name, quick));
  if (missed > 0) console.error(`Bars that are not met: ${missed}`);
  await leave(missed > 0 ? 1 : 0);
} catch (error) {
  console.error(error);
  await leave(1);
}

function readArguments() {
  const { values, positionals } = parseArgs({
    options: { quick: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const known = [...PARTS.keys()];
  const unknown = positionals.filter((name) => !PARTS.has(name));
  if (unknown.length > 0) {
    throw new Error(`No part is called ${unknown.join(', ')}; there are ${known.join(', ')}`);
  }
  return { quick: values.quick, names: positionals.length > 0 ? positionals : known };
}

async function measure(name: string, quick: boolean): Promise<Report> {
  // Each part by itself: what one leaves running must not slow the next.
  running = createRunning();
  const run = createBenchRun(running, quick);
  const report = await PARTS.get(name)?.(run);
  await running.stop();
  if (!report) throw new Error(`No part is called ${name}`);
  const figures = `${toMarkdown(report)}\n\n${provenance()}`;
  console.log(`\n## ${name}\n\n${figures}\n`);
  if (!quick) await writeDown(name, figures);
  return report;
}

async function writeDown(name: string, figures: string): Promise<void> {
  const document = await readFile(DOCUMENT, 'utf8');
  await writeFile(DOCUMENT, withFigures(document, name, figures));
}

function provenance(): string {
  const day = new Date().toISOString().slice(0, 10);
  return `*Measured on ${day}: ${describeMachine()}.*`;
}

function missedBars({ bars }: Report): number {
  return bars.filter(({ met }) => met === false).length;
}

async function leave(code: number): Promise<void> {
  await running.stop();
  process.exit(code);
}
