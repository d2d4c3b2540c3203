// node local/with-service.ts SERVICE COMMAND...: runs a command beside a real service, and stops it afterwards.
// Where the service cannot run, the command runs without it, so that the tests which need it count as skipped.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Argument } from '@commander-js/extra-typings';
import { neo4jServer } from './neo4j/server.ts';
import { createCommand, runProgram } from './program.ts';
import { createRunning } from './running.ts';
import { s3Server } from './s3-server.ts';
import type { Service } from './service.ts';
import { StartError } from './start-error.ts';

const SERVICES = { s3: s3Server, neo4j: neo4jServer };

const running = createRunning();
const command = createCommand('node local/with-service.ts', 'Run a command beside a real service.')
  .addArgument(new Argument('<service>').choices(['s3', 'neo4j']))
  .argument('[command...]', 'without it, the service runs until it is interrupted')
  .passThroughOptions()
  .action(async (name, words) => {
    process.exitCode = await runBeside(SERVICES[name], words);
  });
await runProgram(command, { running });

async function runBeside(service: Service, command: readonly string[]): Promise<number> {
  const obstacle = service.obstacle();
  if (obstacle) {
    console.warn(`Skipped: the tests on ${service.title}, because ${obstacle} on this machine`);
    return command.length > 0 ? await run(command, {}) : 1;
  }
  const { environment, ended } = await service.start(running);
  console.log(`${service.title} is up`);
  if (command.length > 0) return await run(command, environment);
  for (const [key, value] of Object.entries(environment)) console.log(`${key}=${value}`);
  throw new StartError(`${service.title} ${await ended}`);
}

async function run(
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  running.whenStopping(() => {
    child.kill();
  });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}
