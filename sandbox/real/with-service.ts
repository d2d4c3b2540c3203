// node sandbox/real/with-service.ts SERVICES COMMAND...: starts real services, runs a command, and stops the services. If a service
// cannot run here, the command runs without it, and the tests that need it are skipped.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Argument, InvalidArgumentError } from '@commander-js/extra-typings';
import { UserError } from '../../lib/shared/user-error.ts';
import { awsServices } from '../../local/emulator/aws-services.ts';
import { createCommand, runProgram } from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import type { Service, StartedService } from '../../processes/service.ts';
import { qdrantEngine } from './engine/server.ts';
import { mem0Environments } from './mem0/environments.ts';
import { neo4jServer } from './neo4j/server.ts';
import { qdrantServer } from './qdrant-server.ts';

const SERVICES: Readonly<Record<string, Service>> = {
  aws: awsServices,
  neo4j: neo4jServer,
  qdrant: qdrantServer,
  'qdrant-engine': qdrantEngine,
  mem0: mem0Environments,
};

const resources = createResources();
const command = createCommand(
  'node sandbox/real/with-service.ts',
  'Run a command while real services run.',
)
  .addArgument(new Argument('<services>', 'such as "qdrant,mem0"').argParser(parseServices))
  .argument('[command...]', 'without a command, the services run until they are interrupted')
  .passThroughOptions()
  .action(async (services, args) => {
    process.exitCode = await runWithServices(services, args);
  });
await runProgram(command, { resources });

function parseServices(text: string): Service[] {
  return text.split(',').map((name) => {
    const service = SERVICES[name];
    if (service) return service;
    throw new InvalidArgumentError(`Allowed are ${Object.keys(SERVICES).join(', ')}.`);
  });
}

async function runWithServices(
  services: readonly Service[],
  command: readonly string[],
): Promise<number> {
  const environment: Record<string, string> = {};
  const endings: Promise<string>[] = [];
  for (const service of services) {
    const started = await startIfPossible(service);
    if (!started) continue;
    Object.assign(environment, started.environment);
    endings.push(started.ended.then((reason) => `${service.title} ${reason}`));
  }
  if (command.length > 0) return await run(command, environment);
  if (endings.length === 0) return 1;
  for (const [key, value] of Object.entries(environment)) console.log(`${key}=${value}`);
  throw new UserError(await Promise.race(endings));
}

async function startIfPossible(service: Service): Promise<StartedService | undefined> {
  const reason = service.whyUnavailable();
  if (reason) {
    console.warn(`Skipped the tests that need ${service.title}: ${reason} on this machine`);
    return undefined;
  }
  const started = await service.start(resources);
  console.log(`${service.title} is up`);
  return started;
}

async function run(
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  resources.onStop(() => {
    child.kill();
  });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}
