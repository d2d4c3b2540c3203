// npm start: the whole service on this machine, until SIGTERM, SIGINT or SIGHUP.
import { readLedgerConfig } from '../lib/config.ts';
import type { Child } from './child-process.ts';
import { ensureTable } from './create-table.ts';
import { openDataFolder } from './data-folder.ts';
import { type Database, startEmbeddedEngine } from './engine.ts';
import { assertPortFree } from './free-port.ts';
import { startGateway } from './gateway.ts';
import { createRunning } from './running.ts';
import { type LocalSettings, readLocalSettings } from './settings.ts';
import { firstLine } from './start-error.ts';
import { whenNpmIsGone } from './stop-with-npm.ts';

// Within the three seconds that a stop may take. What is left then dies with us (see child-process.ts).
const STOP_MILLISECONDS = 2500;

const running = createRunning();
let leaving = false;

// Each may come more than once: of Ctrl-C the terminal tells, and npm.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => leave(0));
process.once('uncaughtException', (error) => leave(1, firstLine(error)));
// Whoever read our lines may have gone away; that is no reason to stop serving.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

whenNpmIsGone(() => leave(0));

try {
  await start(readLocalSettings(process.env));
} catch (error) {
  await leave(1, firstLine(error));
}

async function start(settings: LocalSettings): Promise<void> {
  const { port, tableName } = settings;
  // The functions will read it; what they cannot use is better said now.
  readLedgerConfig({ ...process.env, TABLE_NAME: tableName });
  await assertPortFree(port);
  const database = await openDatabase(settings);
  leaveWhenItEnds('embedded database', database.child);
  await ensureTable(database.endpoint, tableName);
  const gateway = await startGateway(running, {
    port,
    tableName,
    databaseEndpoint: database.endpoint,
  });
  leaveWhenItEnds('local gateway', gateway);
  tellWhereItIs(settings, database.endpoint);
}

async function openDatabase(settings: LocalSettings): Promise<Database> {
  if (settings.databaseEndpoint !== undefined) return { endpoint: settings.databaseEndpoint };
  if (settings.dataFolder === undefined) return startEmbeddedEngine(running);
  const { databaseFile, announce, release } = openDataFolder(settings.dataFolder);
  running.whenStopping(release);
  const database = await startEmbeddedEngine(running, databaseFile);
  announce(database.endpoint);
  return database;
}

function tellWhereItIs(settings: LocalSettings, endpoint: string): void {
  if (leaving) return;
  const kept =
    settings.databaseEndpoint === undefined ? (settings.dataFolder ?? 'memory') : 'there';
  console.log(`table ${settings.tableName} at ${endpoint}, data in ${kept}`);
  console.log(`ready http://localhost:${settings.port}`);
}

function leaveWhenItEnds(name: string, child: Child | undefined): void {
  child?.ended.then((how) => leave(1, `The ${name} ${how}; everything is stopped`));
}

async function leave(code: number, line?: string): Promise<void> {
  if (leaving) return;
  leaving = true;
  if (line) console.error(line);
  setTimeout(() => process.exit(code), STOP_MILLISECONDS);
  await running.stop();
  process.exit(code);
}
