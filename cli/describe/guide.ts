// npm run describe: writes the generated tables of docs/migration.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTables } from '../migrate/reference.ts';

const GUIDE = join(import.meta.dirname, '../../docs/migration.md');
writeFileSync(GUIDE, withTables(readFileSync(GUIDE, 'utf8')));
