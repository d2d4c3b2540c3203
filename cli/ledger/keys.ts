// npm run keys: creates, lists and revokes API keys in the local database or on a deployed stage.
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { LEDGER_ID, readLedgerId } from '../../lib/ledger/config.ts';
import { type ApiKey, SCOPES } from '../../lib/ledger/domain/api-key.ts';
import { type ApiKeys, createApiKeys } from '../../lib/ledger/store/api-keys.ts';
import { createLedgerDatabase } from '../../lib/ledger/store/schema.ts';
import { createDocumentClient } from '../../lib/shared/document-client.ts';
import { DEFAULT_RETRY_POLICY } from '../../lib/shared/retry.ts';
import { createCommand, createStageOption, runProgram } from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import { explainFailures, findLedgerDatabase } from '../find-database.ts';

const resources = createResources();
const command = createCommand('npm run keys --', 'Create, list and revoke API keys.').addOption(
  createStageOption(),
);

command
  .command('create')
  .description('Create a key. Its secret is printed once and stored nowhere.')
  .requiredOption('--name <text>', 'who or what uses the key, such as phone', parseName)
  .option('--ledger <id>', 'the ledger that the key opens; without it, LEDGER_ID', parseLedgerId)
  .addOption(
    new Option('--scope <scope>', 'what the key allows').choices(SCOPES).default('write' as const),
  )
  .action(async ({ name, ledger = readLedgerId(process.env), scope }) => {
    const { secret, key } = await withKeys((keys) => keys.create({ name, ledger, scope }));
    console.log(secret);
    console.error(
      `Key ${key.id} "${name}" may ${scope} ledger "${ledger}". Store the line above: it is not shown again.`,
    );
  });

command
  .command('list')
  .description('List all keys, revoked ones included.')
  .action(async () => {
    const keys = await withKeys((apiKeys) => apiKeys.list());
    if (keys.length === 0)
      console.error('No keys. Create one: npm run keys -- create --name phone');
    else console.table(Object.fromEntries(keys.map((key) => [key.id, toTableRow(key)])));
  });

command
  .command('revoke')
  .argument('<id>', 'as "list" shows it')
  .description('Revoke a key. Requests with it are refused within a minute.')
  .action(async (id) => {
    const { name } = await withKeys((keys) => keys.revoke(id));
    console.error(`Key ${id} "${name}" is revoked.`);
  });

await runProgram(command, { resources });

function parseName(text: string): string {
  if (/^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(text) && text.trim() !== '') return text;
  throw new InvalidArgumentError('Use 1 to 100 characters, none of them a control character.');
}

function parseLedgerId(text: string): string {
  if (LEDGER_ID.pattern.test(text)) return text;
  throw new InvalidArgumentError(`Use ${LEDGER_ID.rule}.`);
}

async function withKeys<Result>(use: (keys: ApiKeys) => Promise<Result>): Promise<Result> {
  const { stage } = command.opts();
  const location = await findLedgerDatabase(resources, stage);
  const { endpoint, tableName } = location;
  const client = createDocumentClient(endpoint);
  const database = createLedgerDatabase({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY });
  return await explainFailures(location, () =>
    use(createApiKeys({ database, clock: () => new Date() })),
  );
}

function toTableRow({ name, ledger, scope, createdAt, lastUsedOn, revokedAt }: ApiKey) {
  return {
    name,
    ledger,
    scope,
    created: new Date(createdAt).toISOString().slice(0, 10),
    'last used': lastUsedOn ?? 'never',
    revoked: revokedAt === undefined ? '' : new Date(revokedAt).toISOString(),
  };
}
