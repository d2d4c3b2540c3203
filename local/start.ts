// npm start: runs the whole service on this machine, until SIGTERM, SIGINT or SIGHUP.
import { join } from 'node:path';
import { readLedgerConfig } from '../lib/ledger/config.ts';
import { firstLine, UserError } from '../lib/shared/user-error.ts';
import type { Child } from '../processes/child-process.ts';
import { createCommand, EXIT, runProgram } from '../processes/program.ts';
import { createResources } from '../processes/resources.ts';
import { runNode } from '../processes/tools.ts';
import { openDataFolder } from './data-folder.ts';
import { openEdge } from './edge.ts';
import { type Database, startDatabase } from './engine.ts';
import { buildGateway, startGateway } from './gateway.ts';
import { useLocalAccess } from './local-access.ts';
import { type LocalSettings, readLocalSettings } from './settings.ts';

// Stopping must take at most three seconds. Programs that still run after this time end with this process (see child-process.ts).
const STOP_MILLISECONDS = 2500;
const HOUR_MILLISECONDS = 60 * 60 * 1000;
const TABLE_WORK = join(import.meta.dirname, 'table-work.ts');

const VARIABLES = `
Environment variables:
  PORT               port of the API (3000)
  DATA_DIR           folder of the database (.local/data); "memory" keeps nothing
  DYNAMODB_ENDPOINT  use this database and start none
  TIME_ZONE          time zone of "today" (UTC)
  TABLE_NAME         table (finance-ledger-local)
  AUTH               "required": every request needs a key or token, as when deployed (open)
  AUTH_ISSUER        OIDC issuer whose access tokens are accepted, with AUTH_AUDIENCE
  LEDGER_ID          ledger of requests without a key (default)
  ALLOWED_ORIGINS    browser origins that may call in addition to the service's own, comma-separated`;

const resources = createResources();
/** Rejects when a part of the running service ends. */
const { promise: failure, reject: fail } = Promise.withResolvers<never>();
const command = createCommand('npm start --', 'Run the service on this machine until Ctrl-C.')
  .addHelpText('after', VARIABLES)
  .action(() => Promise.race([failure, start(readLocalSettings(process.env))]));
await runProgram(command, {
  resources,
  exitCodeOnSignal: EXIT.done,
  stopMilliseconds: STOP_MILLISECONDS,
});

async function start(settings: LocalSettings): Promise<void> {
  const { port, allowedOrigins, tableName } = settings;
  useLocalAccess(process.env);
  // The functions read the same settings. Reading them here reports a wrong setting before anything starts.
  const AUTH = process.env.AUTH || 'open';
  const { ledgerId } = readLedgerConfig({ ...process.env, TABLE_NAME: tableName, AUTH });
  const edge = await openEdge(resources, {
    port,
    allowedOrigins,
    log: (line) => console.log(line),
  });
  const database = await openDatabase(settings);
  failWhenItEnds(database.title, database.child);
  const runTableWork = (work: 'prepare' | 'expire') =>
    runNode(resources, TABLE_WORK, work, database.endpoint, tableName);
  const spec = { tableName, databaseEndpoint: database.endpoint };
  const [buildFolder, output] = await Promise.all([
    buildGateway(resources, spec),
    runTableWork('prepare'),
  ]);
  if (output) console.log(output);
  const gateway = await startGateway(resources, spec, buildFolder);
  failWhenItEnds('local gateway', gateway.child);
  edge.forwardTo(gateway.socketPath);
  repeatHourly(() => runTableWork('expire'), 'expired items are kept');
  printAddresses(settings, database, ledgerId);
  await failure;
}

async function openDatabase(settings: LocalSettings): Promise<Database> {
  if (settings.databaseEndpoint !== undefined) return { endpoint: settings.databaseEndpoint };
  if (settings.dataFolder === undefined) return startDatabase(resources);
  const { path, recordEndpoint, release } = openDataFolder(settings.dataFolder);
  resources.onStop(release);
  const database = await startDatabase(resources, path);
  recordEndpoint(database.endpoint);
  return database;
}

/** Does the work immediately, and then every hour. A failure is only reported, because the next attempt makes up for it. */
function repeatHourly(work: () => Promise<unknown>, consequence: string): void {
  const attempt = () =>
    void work().catch((error) => {
      if (!resources.isStopping()) console.error(`warning: ${consequence}: ${firstLine(error)}`);
    });
  setInterval(attempt, HOUR_MILLISECONDS).unref();
  attempt();
}

function printAddresses(
  settings: LocalSettings,
  { endpoint, title, isExposed }: Database,
  openLedgerId: string | undefined,
): void {
  const ownsDatabase = settings.databaseEndpoint === undefined;
  const data = ownsDatabase ? `, data in ${settings.dataFolder ?? 'memory'}` : '';
  // Commands find a database in a folder by themselves. A database in memory has only its address.
  const isInMemory = ownsDatabase && settings.dataFolder === undefined;
  const access = isInMemory ? `DYNAMODB_ENDPOINT=${endpoint} ` : '';
  const engine = title === undefined ? '' : ` (${title})`;
  console.log(`table ${settings.tableName} at ${endpoint}${engine}${data}`);
  if (isExposed) {
    console.log(
      `warning: this machine cannot isolate the database: its other programs and users, and pages in their browsers, can read and change it at ${endpoint} (docs/ledger/security.md)`,
    );
  }
  console.log(
    openLedgerId === undefined
      ? `every request needs an API key: export API_KEY=$(${access}npm run -s keys -- create --name my-key)`
      : `no key needed on this machine: requests without one open the ledger "${openLedgerId}"`,
  );
  console.log(`ready http://localhost:${settings.port}`);
  const header = openLedgerId === undefined ? ' -H "Authorization: Bearer $API_KEY"' : '';
  console.log(
    `Try:  curl -s${header} http://localhost:${settings.port}/transactions/   (npm run seed fills it)`,
  );
  console.log(
    `Docs: http://localhost:${settings.port}/docs has every route, README.md a tour, docs/ledger/api.md every rule of the API`,
  );
}

function failWhenItEnds(name: string | undefined, child: Child | undefined): void {
  child?.ended.then((ending) =>
    fail(new UserError(`The ${name} ${ending}; everything is stopped`)),
  );
}
