// Fills a database: the engine imports a DynamoDB export. This is ten times as fast as writing the items.
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Item } from '../../lib/shared/database.ts';
import definition from '../../lib/shared/table.json' with { type: 'json' };
import { requireEmbeddedProgram } from '../../local/engine.ts';

export interface Export {
  readonly folder: string;
  readonly source: string;
  readonly schema: string;
}

export async function writeExport(
  folder: string,
  tableName: string,
  items: Iterable<Item>,
): Promise<Export> {
  const source = join(folder, 'export');
  const data = join(source, tableName, 'data');
  const schema = join(folder, 'schema.json');
  await mkdir(data, { recursive: true });
  await writeFile(schema, JSON.stringify({ Table: { TableName: tableName, ...definition } }));
  await pipeline(
    Readable.from(serializeItems(items)),
    createGzip({ level: 1 }),
    createWriteStream(join(data, 'items.json.gz')),
  );
  return { folder, source, schema };
}

/** Lets the engine import an export. @returns the folder of the database */
export async function importExport({ folder, source, schema }: Export): Promise<string> {
  const database = join(folder, 'ledger.db');
  const from = ['--source', source, '--schema', schema];
  await promisify(execFile)(requireEmbeddedProgram(), ['import', ...from, '--output', database]);
  return folder;
}

const ITEMS_PER_CHUNK = 1_000;

function* serializeItems(items: Iterable<Item>): Generator<string> {
  let chunk: string[] = [];
  for (const item of items) {
    chunk.push(`${JSON.stringify({ Item: marshall(item) })}\n`);
    if (chunk.length === ITEMS_PER_CHUNK) {
      yield chunk.join('');
      chunk = [];
    }
  }
  yield chunk.join('');
}
