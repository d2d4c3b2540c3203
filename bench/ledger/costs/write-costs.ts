// npm run bench -- costs: packages the stages without an AWS account, and writes their costs and limits into
// docs/ledger/deploy.md.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runServerless } from '../../../local/emulator/emulated-stage.ts';
import { createCommand, runProgram } from '../../../processes/program.ts';
import { createResources } from '../../../processes/resources.ts';
import { fillCosts } from './sections.ts';
import { readStageLimits, type StageLimits } from './stage-limits.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/ledger/deploy.md');
// The stage `prod` cannot be packaged without a topic for alarms.
const PARAMETERS = { alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:alarms' };

const resources = createResources();
const command = createCommand(
  'npm run bench -- costs',
  'Compute what a stage costs and allows, and write the tables into docs/ledger/deploy.md.',
).action(async () => {
  const dev = await packageStage('dev');
  const prod = await packageStage('prod');
  const document = await readFile(DOCUMENT, 'utf8');
  await writeFile(DOCUMENT, fillCosts(document, { dev, prod }));
  console.log('Wrote docs/ledger/deploy.md');
});
await runProgram(command, { resources });

async function packageStage(stage: 'dev' | 'prod'): Promise<StageLimits> {
  const folder = await resources.createTemporaryFolder('ledger-costs-');
  // Only the template is read. Bundling the functions as well would take longer.
  const environment = { ONLY_TEMPLATE: 'yes', AWS_EC2_METADATA_DISABLED: 'true' };
  await runServerless(
    { stage, environment, resources },
    ['package', '--package', folder],
    PARAMETERS,
  );
  const file = join(folder, 'cloudformation-template-update-stack.json');
  return readStageLimits(JSON.parse(await readFile(file, 'utf8')));
}
