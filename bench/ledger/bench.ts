// npm run bench: measures the service and writes the figures into docs/ledger/performance.md.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument } from '@commander-js/extra-typings';
import { useLocalAccess } from '../../local/local-access.ts';
import { createCommand, runProgram } from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import { describeMachine } from '../machine.ts';
import { type Report, toMarkdown } from '../report.ts';
import { type BenchRun, createBenchRun } from './bench-run.ts';
import { replaceFigures } from './figures.ts';
import { PARTS } from './parts.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/ledger/performance.md');

// Each part of the bench has its own resources. They are stopped after the part, so that no program still runs during the next.
let resources = createResources();
useLocalAccess(process.env);

const partNames = [...PARTS.keys()];
const command = createCommand(
  'npm run bench --',
  'Measure the service and write the figures into docs/ledger/performance.md.',
)
  .addArgument(new Argument('[parts...]', 'without it, all').choices(partNames))
  .option('--quick', 'smaller ledgers; show the figures without recording them')
  .option(
    '--against <commit>',
    'cold-start and import: measure this commit as well, or the last release: "release"',
  )
  .action(async (names, { quick = false, against }) => {
    let missedBars = 0;
    for (const name of names.length > 0 ? names : partNames)
      missedBars += countMissedBars(await measure(name, { quick, against }));
    if (missedBars > 0) throw new Error(`Bars not met: ${missedBars}`);
  })
  .addHelpText(
    'after',
    '\nOther measurements, each alone: npm run bench -- migration, -- window, -- streaming, and -- costs for the costs of a stage.',
  );
await runProgram(command, { resources: { stop: () => resources.stop() } });

async function measure(
  name: string,
  options: Pick<BenchRun, 'quick' | 'against'>,
): Promise<Report> {
  resources = createResources();
  const run = createBenchRun(resources, options);
  const report = await PARTS.get(name)?.(run);
  await resources.stop();
  if (!report) throw new Error(`No part is called ${name}`);
  const figures = `${toMarkdown(report)}\n\n${describeProvenance()}`;
  console.log(`\n## ${name}\n\n${figures}\n`);
  if (!options.quick) await writeFigures(name, figures);
  return report;
}

async function writeFigures(name: string, figures: string): Promise<void> {
  const document = await readFile(DOCUMENT, 'utf8');
  await writeFile(DOCUMENT, replaceFigures(document, name, figures));
}

function describeProvenance(): string {
  const day = new Date().toISOString().slice(0, 10);
  return `*Measured on ${day}: ${describeMachine()}.*`;
}

function countMissedBars({ bars }: Report): number {
  return bars.filter(({ met }) => met === false).length;
}
