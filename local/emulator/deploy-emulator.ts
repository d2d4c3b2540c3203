// npm run deploy:emulator: deploys a stage to an AWS emulator on this machine, until SIGTERM, SIGINT or SIGHUP.

import { UserError } from '../../lib/shared/user-error.ts';
import { createCommand, EXIT, runProgram } from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import { awsEmulator } from './aws-emulator.ts';
import { createKey, deployStage, readAddress, repairCors } from './emulated-stage.ts';

const STAGE = 'dev';

const resources = createResources();
const command = createCommand(
  'npm run deploy:emulator --',
  `Deploy the stage ${STAGE} to an AWS emulator on this machine, until Ctrl-C.`,
).action(deploy);
await runProgram(command, { resources, exitCodeOnSignal: EXIT.done });

async function deploy(): Promise<void> {
  const reason = awsEmulator.whyUnavailable();
  if (reason) {
    throw new UserError(`The AWS emulator needs Python: ${reason} on this machine`);
  }
  console.log('Starting the AWS emulator; the first time it is installed with pip into .local');
  const { environment, ended } = await awsEmulator.start(resources);
  const emulatorEnd = ended.then((ending) => {
    throw new UserError(`The AWS emulator ${ending}`);
  });
  await Promise.race([emulatorEnd, deployTo(environment)]);
  await emulatorEnd;
}

async function deployTo(environment: Readonly<Record<string, string>>): Promise<void> {
  const folder = await resources.createTemporaryFolder('ledger-deployed-');
  const emulatedStage = { stage: STAGE, environment, resources };
  console.log(`Packaging and deploying the stage ${STAGE}, which takes about a minute`);
  await deployStage(emulatedStage, folder);
  await repairCors(emulatedStage);
  const address = await readAddress(emulatedStage);
  const key = await createKey(emulatedStage, 'default');
  const exported = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  console.log(`ready ${address}`);
  console.log(`Try:  curl -s -H 'Authorization: Bearer ${key}' ${address}/categories/`);
  console.log(`AWS:  export ${exported.join(' ')}`);
  console.log('Ctrl-C stops the emulator; nothing of the stage is kept');
}
