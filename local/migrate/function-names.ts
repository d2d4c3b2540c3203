// What a command's function is called where it is deployed: serverless.yml names the service, and the command names
// the function, as serverless/migration.js names its file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { parse } from 'yaml';
import { type CommandName, commandNamed } from './commands.ts';

const FILE = join(import.meta.dirname, '../../serverless.yml');

const serviceSchema = v.object({ service: v.string() });

export function functionNameOf(name: CommandName, stage: string): string {
  const { service } = v.parse(serviceSchema, parse(readFileSync(FILE, 'utf8')));
  const { deployedAs = name } = commandNamed(name);
  return `${service}-${stage}-migration${deployedAs[0]?.toUpperCase()}${deployedAs.slice(1)}`;
}
