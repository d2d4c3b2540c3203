// Prepares the table of the local service, or deletes expired items. This is a separate program: in the process of `npm start`,
// the database client would double the memory for as long as the service runs.
// Usage: `node local/table-work.ts prepare|expire ENDPOINT TABLE`
import { createDocumentClient } from '../lib/shared/document-client.ts';
import { UserError } from '../lib/shared/user-error.ts';
import { runProgram } from '../processes/program.ts';
import { convertData } from './convert-data.ts';
import { ensureTable } from './create-table.ts';
import { deleteExpired } from './expiry.ts';

type Work = (endpoint: string, tableName: string) => Promise<void>;

const WORK: Readonly<Record<string, Work>> = { prepare, expire };

const [, , name = '', endpoint = '', tableName = ''] = process.argv;
await runProgram({
  parseAsync: async () => {
    const work = WORK[name];
    if (!work) throw new UserError(`"${name}" is not one of ${Object.keys(WORK).join(', ')}`);
    await work(endpoint, tableName);
  },
});

/** Creates the table if it is missing, and converts the items of earlier releases. */
async function prepare(endpoint: string, tableName: string): Promise<void> {
  await ensureTable(endpoint, tableName);
  const client = createDocumentClient(endpoint);
  const changes = await convertData({ client, tableName });
  if (changes > 0) console.log(`converted the data of an earlier release with ${changes} changes`);
}

async function expire(endpoint: string, tableName: string): Promise<void> {
  await deleteExpired(createDocumentClient(endpoint), tableName);
}
