// Every function behind the gateway is packaged, on the runtime and with the limits that were chosen for it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { apiFunctionsOf, readTemplate, STAGES } from '../support/packaged-template.ts';

const FUNCTIONS = join(import.meta.dirname, '../../functions');

describe.each(STAGES)('functions of stage %s', (stage) => {
  const functions = apiFunctionsOf(readTemplate(stage));

  it('are one for each endpoint, four about the service and the caller, one for the front page, one for preflights and one for everything else', () => {
    expect(functions).toHaveLength(22);
  });

  it('are the files of the API folders, each deployed once', () => {
    const folders = ['api', 'categories', 'summary', 'transactions'];
    const files = folders.flatMap((folder) =>
      readdirSync(join(FUNCTIONS, folder)).map((file) => `${folder}/${file.replace(/\.ts$/, '')}`),
    );
    expect(functions.map(([name]) => name).toSorted()).toEqual(files.toSorted());
  });

  describe.each(functions)('%s', (_name, properties) => {
    it('runs on Node 24 and arm64, within limits of its own', () => {
      expect(properties).toMatchObject({
        FunctionName: expect.stringContaining(`finance-ledger-${stage}-`),
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        MemorySize: 512,
        Timeout: 20,
        LoggingConfig: expect.objectContaining({ LogFormat: 'JSON' }),
      });
    });

    it("knows the stage's table, and no other database", () => {
      expect(properties.Environment.Variables).toEqual({
        TABLE_NAME: `finance-ledger-${stage}`,
        AUTH: 'required',
        AUTH_ISSUER: '',
        AUTH_AUDIENCE: '',
        LEDGER_ID: 'default',
        TIME_ZONE: 'UTC',
        NODE_OPTIONS: '--enable-source-maps',
        METRICS_NAMESPACE: `finance-ledger-${stage}`,
      });
    });
  });
});
