// Packages the service once for all wiring tests, as an operator without an account would.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder with one packaged service for each stage. */
    packagedService: string;
  }
}

const SERVERLESS = join(import.meta.dirname, '../../node_modules/serverless/bin/serverless.js');

// No account and no home; and, as left in a shell, what must not find its way into a package.
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  AWS_EC2_METADATA_DISABLED: 'true',
  DYNAMODB_ENDPOINT: 'http://left-in-the-shell:8000',
  TABLE_NAME: 'left-in-the-shell',
  LEDGER_ID: 'left-in-the-shell',
  TIME_ZONE: 'Europe/Berlin',
  ALLOWED_ORIGINS: 'https://left-in-the-shell.example',
};

// A stage whose operator has named everything that there can be to migrate.
const MIGRATING = {
  qdrantUrl: 'https://qdrant.example:6333',
  qdrantKeyParameter: '/memory/qdrant-key',
  memoryBackendUrl: 'https://memory.example',
  memoryBackendKeyParameter: '/memory/backend-key',
  memoryPreviewUrl: 'https://preview.example',
  neo4jUrl: 'neo4j+s://graph.example',
  neo4jUser: 'reader',
  neo4jPasswordParameter: '/aws/reference/secretsmanager/memory/neo4j',
  migrationWebhookUrl: 'https://hooks.example/migration',
  migrationWebhookTokenParameter: '/memory/webhook-token',
  collectionParameter: '/memory/collection',
  artifactsUrl: 's3://memory-backups.example/of/memories',
  alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:alarms',
  monthlyBudgetUsd: '50',
};

/** Vitest's global setup of the wiring tests. */
export default async function packageService({ provide }: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-package-'));
  // One after the other: a packaging moves its files by way of the same `.serverless` folder.
  try {
    await packageStage('dev', join(folder, 'dev'));
    await packageStage('prod', join(folder, 'prod'));
    await packageStage('prod', join(folder, 'migrating'), MIGRATING);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  provide('packagedService', folder);
  return () => rm(folder, { recursive: true, force: true });
}

/** @throws with the packager's output (`stdout`) when it refuses */
export async function packageStage(
  stage: string,
  folder: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<void> {
  const given = Object.entries(parameters).map(([name, value]) => `--param=${name}=${value}`);
  const options = ['package', '--stage', stage, '--package', folder, ...given];
  // The packager leaves a folder of every function's files behind in the folder for temporary ones.
  const scratch = await mkdtemp(join(tmpdir(), 'ledger-packaging-'));
  try {
    await promisify(execFile)(process.execPath, [SERVERLESS, ...options], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...ENVIRONMENT, TMPDIR: scratch },
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
