// npm run ledger: lists, upgrades and deletes ledgers in the local database or on a deployed stage.
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { LEDGER_ID } from '../../lib/ledger/config.ts';
import { createApiKeys } from '../../lib/ledger/store/api-keys.ts';
import { openTable } from '../../lib/ledger/store/ledger-items.ts';
import { readLedgerIds } from '../../lib/ledger/store/list-of-ledgers.ts';
import { createRemoval } from '../../lib/ledger/store/removal.ts';
import { createLedgerDatabase } from '../../lib/ledger/store/schema.ts';
import { sweepTable } from '../../lib/ledger/store/schema-sweep.ts';
import { createDocumentClient } from '../../lib/shared/document-client.ts';
import { DEFAULT_RETRY_POLICY } from '../../lib/shared/retry.ts';
import { UserError } from '../../lib/shared/user-error.ts';
import { createCommand, createStageOption, EXIT, runProgram } from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import { type DatabaseLocation, explainFailures, findLedgerDatabase } from '../find-database.ts';
import { withProgressBar } from '../progress.ts';
import { createAsk } from '../prompt.ts';

const resources = createResources();
const command = createCommand('npm run ledger --', 'List, upgrade and delete ledgers.').addOption(
  createStageOption(),
);

command
  .command('delete')
  .description('Delete a ledger permanently, with all its transactions and categories.')
  .requiredOption('--ledger <id>', 'the ledger, as "npm run keys -- list" shows it', parseLedgerId)
  .option('--yes', 'do not ask')
  .addHelpText(
    'after',
    '\nRepeat the command if it is interrupted: it continues where it stopped. Backups keep the ledger for recoveryDays.',
  )
  .action(async ({ ledger, yes }) => {
    await withDatabase((location) => deleteLedger(location, ledger, yes === true));
  });

command
  .command('list')
  .description('Print the id of each ledger that has records.')
  .addHelpText(
    'after',
    '\nAfter an update from 0.1.0 run "upgrade" once: it adds older ledgers to the list.',
  )
  .action(() => withDatabase(listLedgers));

command
  .command('upgrade')
  .description('Convert the items that an earlier release wrote to the form of this release.')
  .addHelpText(
    'after',
    '\nClients can keep working, and reads need no upgrade. Reads the table once; repeat the command if it is interrupted.',
  )
  .action(() => withDatabase(upgradeLedgers));

await runProgram(command, { resources });

async function withDatabase(work: (location: DatabaseLocation) => Promise<void>): Promise<void> {
  const { stage } = command.opts();
  const location = await findLedgerDatabase(resources, stage);
  await explainFailures(location, () => work(location));
}

async function listLedgers({ endpoint, tableName }: DatabaseLocation): Promise<void> {
  const client = createDocumentClient(endpoint);
  const table = openTable({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY });
  for await (const ledgerId of readLedgerIds(table)) console.log(ledgerId);
}

async function upgradeLedgers({ endpoint, tableName }: DatabaseLocation): Promise<void> {
  const client = createDocumentClient(endpoint);
  const { upgraded, registered } = await sweepTable({ client, tableName });
  console.log(
    `${tableName}: items upgraded: ${upgraded}, ledgers added to the list: ${registered}`,
  );
}

async function deleteLedger(
  { endpoint, tableName }: DatabaseLocation,
  ledgerId: string,
  isConfirmed: boolean,
): Promise<void> {
  const client = createDocumentClient(endpoint);
  const removal = createRemoval({ client, tableName, ledgerId });
  const database = createLedgerDatabase({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY });
  const validKeys = (await createApiKeys({ database, clock: () => new Date() }).list()).filter(
    ({ ledger, revokedAt }) => ledger === ledgerId && revokedAt === undefined,
  );
  if (validKeys.length > 0) {
    const ids = validKeys.map(({ id }) => id).join(', ');
    throw new UserError(
      `The ledger "${ledgerId}" has valid API keys: ${ids}. Revoke each with "npm run keys -- revoke ID", then wait a minute.`,
    );
  }
  if (!(await removal.exists())) return console.log(`The ledger "${ledgerId}" is empty.`);
  const { transactions, categories, items } = await removal.count();
  const summary = `ledger "${ledgerId}" of ${tableName}: ${transactions} transactions, ${categories} categories, ${items} items in all`;
  console.log(summary);
  if (!isConfirmed && !(await confirmByTyping(ledgerId))) {
    console.error('Nothing was deleted.');
    process.exitCode = EXIT.failed;
    return;
  }
  const deletedCount = await withProgressBar(items, removal.remove);
  console.log(`${deletedCount} items deleted. Backups keep them for recoveryDays.`);
}

async function confirmByTyping(ledgerId: string): Promise<boolean> {
  const ask = createAsk(
    { input: process.stdin, status: process.stderr },
    new AbortController().signal,
  );
  return (await ask(`Type ${ledgerId} to delete it permanently: `)) === ledgerId;
}

function parseLedgerId(text: string): string {
  if (LEDGER_ID.pattern.test(text)) return text;
  throw new InvalidArgumentError(`Use ${LEDGER_ID.rule}.`);
}
