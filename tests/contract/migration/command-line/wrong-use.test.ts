// What the command line itself, or the environment, has wrong: told before anybody is asked.
import { describe, expect, it } from 'vitest';
import { createOperator, migrateWith } from '../../../support/migration/command-line.ts';

describe('a command line that is wrong in itself', () => {
  it.each([
    ['an unknown command', ['migrate'], 'no command "migrate"'],
    ['an unknown option', ['status', '--force'], "'--force'"],
    ['no run', ['copy', '--execute'], 'needs --run'],
    ['a stage that is no name', ['status', '--stage', 'pr/od'], '--stage is the name of a stage'],
  ])('ends with 2 for %s, speaking to nobody', async (_, words, fault) => {
    const { code, stdout, stderr } = await migrateWith({}, ...words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^WrongUseError: .+\nSee npm run migrate -- --help\n$/);
    expect(stderr).toContain(fault);
  });
});

describe('a service that is not named', () => {
  it.each([
    'QDRANT_URL',
    'MEMORY_BACKEND_URL',
    'MEMORY_BACKEND_KEY',
    'ARTIFACTS_URL',
    'COLLECTION_SETTING',
  ])('is refused without %s, which is named', async (variable) => {
    const { named } = await createOperator();
    const { code, stderr } = await migrateWith({ ...named, [variable]: '' }, 'status');
    expect(code).toBe(3);
    expect(stderr).toMatch(new RegExp(`^RefusedSetting: .*${variable}.*Set the named variable`));
  });
});
