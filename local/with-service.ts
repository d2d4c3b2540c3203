// node local/with-service.ts <service> <command...>: runs a command beside a real service that lives as long.
// Without a command the service runs until it is interrupted. Where it cannot run, the command runs without it,
// so that the tests which need it are counted as skipped.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { neo4jServer } from './neo4j/server.ts';
import { createRunning } from './running.ts';
import { s3Server } from './s3-server.ts';
import type { Service } from './service.ts';
import { firstLine } from './start-error.ts';

const SERVICES: Readonly<Record<string, Service>> = { s3: s3Server, neo4j: neo4jServer };

const [name = '', ...command] = process.argv.slice(2);
const running = createRunning();
let leaving = false;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leave(1));

try {
  await leave(await main());
} catch (error) {
  console.error(firstLine(error));
  await leave(1);
}

async function main(): Promise<number> {
  const service = SERVICES[name];
  if (!service) throw new Error(`Which service? One of: ${Object.keys(SERVICES).join(', ')}`);
  const obstacle = service.obstacle();
  if (obstacle) {
    console.warn(`Skipped: the tests on ${service.title}, because ${obstacle} on this machine`);
    return command.length > 0 ? await run(command, {}) : 1;
  }
  const { environment, ended } = await service.start(running);
  console.log(`${service.title} is up`);
  if (command.length > 0) return await run(command, environment);
  for (const [key, value] of Object.entries(environment)) console.log(`${key}=${value}`);
  const how = await ended;
  if (!leaving) console.error(`${service.title} ${how}`);
  return 1;
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

async function leave(code: number): Promise<void> {
  leaving = true;
  await running.stop();
  process.exit(code);
}
