// npm run describe: writes the routes and messages that functions know, the API description that GET /openapi.json answers with,
// the types generated from that description, the sections of docs/ledger/api.md, the new endpoints in CHANGELOG.md, and the
// tables of the operators' guides.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateSource } from 'oazapfts';
import { createCommand, runProgram } from '../../processes/program.ts';
import { updateTables } from '../migration/migrate/reference.ts';
import { updateRouteSections } from './api-guide.ts';
import { addNewEndpoints } from './changelog.ts';
import { extractTypes, listFailureMessages } from './client-types.ts';
import { buildOpenApiDocument } from './openapi-document.ts';
import { updateRoleCommands } from './role-commands.ts';
import { groupMethodsByPath } from './routes.ts';

const PROJECT = join(import.meta.dirname, '../..');
const ROUTES = 'lib/ledger/http/routes.json';
const DOCUMENT = 'lib/ledger/http/openapi.json';
const FAILURES = 'lib/ledger/http/failures.json';
const TYPES = 'lib/ledger/http/api-types.ts';
const MIGRATION_GUIDE = 'docs/migration/guide.md';
const API_GUIDE = 'docs/ledger/api.md';
const CHANGELOG = 'CHANGELOG.md';
const DEPLOY_GUIDE = 'docs/ledger/deploy.md';

const command = createCommand(
  'npm run describe --',
  `Write ${ROUTES} from serverless.yml, ${FAILURES} and ${DOCUMENT} from the declarations of endpoints, ${TYPES} and the routes of ${API_GUIDE} from ${DOCUMENT}, new endpoints into ${CHANGELOG}, and the tables of ${MIGRATION_GUIDE} and ${DEPLOY_GUIDE}.`,
).action(async () => {
  for (const [file, content] of [
    [ROUTES, groupMethodsByPath()],
    [FAILURES, listFailureMessages()],
    [DOCUMENT, buildOpenApiDocument()],
  ] as const) {
    await writeFile(join(PROJECT, file), `${JSON.stringify(content, undefined, 2)}\n`);
  }
  const client = await generateSource(join(PROJECT, DOCUMENT));
  await writeFile(join(PROJECT, TYPES), extractTypes(client));
  for (const [file, update] of [
    [MIGRATION_GUIDE, updateTables],
    [API_GUIDE, updateRouteSections],
    [CHANGELOG, addNewEndpoints],
    [DEPLOY_GUIDE, updateRoleCommands],
  ] as const) {
    const text = await readFile(join(PROJECT, file), 'utf8');
    await writeFile(join(PROJECT, file), update(text));
  }
  for (const file of [
    ROUTES,
    FAILURES,
    DOCUMENT,
    TYPES,
    MIGRATION_GUIDE,
    API_GUIDE,
    CHANGELOG,
    DEPLOY_GUIDE,
  ])
    console.log(`Wrote ${file}`);
});

await runProgram(command);
