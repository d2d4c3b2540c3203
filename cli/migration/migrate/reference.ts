// Generates the reference tables of docs/migration/guide.md from the code that they describe.
import { PHASES, type Phase } from '../../../lib/migration/phases.ts';
import { REMEDIES } from '../../../lib/migration/refusals.ts';
import type { StepSettings } from '../../../lib/migration/settings.ts';
import { COMMANDS, type MigrateCommand } from './commands.ts';

const PHASE_MEANINGS: Readonly<Record<Phase, string>> = {
  checked: 'every prerequisite is met',
  'backed-up': 'snapshot and graph dump are kept, and their restore was tested',
  rebuilt: 'the new collection exists and was tested',
  copied: 'both collections were compared; the report waits for approval. Also after a rollback',
  switching: 'the window: users cannot write until they are on the new version, or back',
  live: 'users are on the new version; rollback is possible',
  'switching-back': 'a rollback, or a window that failed: users cannot write until they are back',
  closed: 'ended: the rollback period is over',
  aborted: 'ended: users are on the old version',
};

const VARIABLES: Readonly<Record<keyof StepSettings, string>> = {
  TABLE_NAME: 'DynamoDB table with the records of the runs',
  DYNAMODB_ENDPOINT: 'DynamoDB outside the AWS region',
  QDRANT_URL: 'vector store',
  QDRANT_API_KEY: 'its key, with manage rights',
  MEMORY_BACKEND_URL: 'memory backend',
  MEMORY_BACKEND_PATHS: 'its paths, if [different](backend.md)',
  MEMORY_BACKEND_KEY: 'its API key for the test user',
  MEMORY_PREVIEW_URL: 'new version as a preview',
  COLLECTION_SETTING: 'setting with the collection name: `file:///path` or `ssm:/parameter`',
  ARTIFACTS_URL: 'backups and reports: `s3://bucket/prefix` with Object Lock, or `file:///folder`',
  ARTIFACTS_BUCKET_OWNER: 'account that must own the bucket (set by the deployment)',
  NEO4J_URL: 'graph store',
  NEO4J_DATABASE: "its database (default: the user's own)",
  NEO4J_USER: 'its user (default: `neo4j`)',
  NEO4J_PASSWORD: 'its password',
  MIGRATION_WEBHOOK_URL: 'webhook',
  MIGRATION_WEBHOOK_TOKEN: 'its bearer token',
};

/** Functions that format the tables, by the names of the generated sections */
export const TABLES: Readonly<Record<string, () => string>> = {
  commands: () =>
    formatTable(
      ['Command', 'Does', 'Options'],
      Object.entries<MigrateCommand>(COMMANDS).map(([name, { description, options }]) => [
        `\`${name}${name === 'confirm' ? ' ACTION' : ''}\``,
        description,
        options.map((option) => `\`--${option}\``).join(' '),
      ]),
    ),
  phases: () =>
    formatTable(
      ['Phase', 'Means'],
      PHASES.map((phase) => [`\`${phase}\``, PHASE_MEANINGS[phase]]),
    ),
  refusals: () =>
    formatTable(
      ['Name', 'What to do'],
      Object.entries(REMEDIES).map(([name, remedy]) => [`\`${name}\``, remedy]),
    ),
  variables: () =>
    formatTable(
      ['Variable', 'Is'],
      Object.entries(VARIABLES).map(([name, meaning]) => [`\`${name}\``, meaning]),
    ),
};

/** Replaces every generated section of a text. */
export function updateTables(text: string): string {
  return text.replace(SECTION, (section, name: string) => {
    const render = TABLES[name];
    return render ? `<!-- generated: ${name} -->\n${render()}\n<!-- end -->` : section;
  });
}

/**
 * Lists the names of the generated sections in a text.
 * @internal A test compares the names with the tables.
 */
export function listSections(text: string): string[] {
  return [...text.matchAll(SECTION)].map(([, name = '']) => name);
}

const SECTION = /<!-- generated: (\w+) -->\n[\s\S]*?<!-- end -->/g;

function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const formatRow = (cells: readonly string[]) => `|${cells.join('|')}|`;
  return [
    formatRow(headings),
    `|${headings.map(() => '---').join('|')}|`,
    ...rows.map(formatRow),
  ].join('\n');
}
