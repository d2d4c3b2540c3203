// The collection setting, which a cutover changes. Wherever it is stored, it changes only from the expected name.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFileCollectionSetting } from '../../../lib/migration/adapters/file-collection-setting.ts';
import { createSsmCollectionSetting } from '../../../lib/migration/adapters/ssm-collection-setting.ts';
import type { CollectionSetting } from '../../../lib/migration/ports/collection-setting.ts';
import { createParameterStore } from '../support/parameter-store.ts';
import { failureNamed } from '../support/refused.ts';

interface SettingUnderTest {
  readonly setting: CollectionSetting;
  readonly missing: CollectionSetting;
}

const PARAMETER = '/memory/collection';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'collection-setting-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function createFileSetting(): Promise<SettingUnderTest> {
  const file = join(await mkdtemp(join(folder, 'case-')), 'collection');
  await writeFile(file, 'memories\n');
  return {
    setting: createFileCollectionSetting(file),
    missing: createFileCollectionSetting(`${file}-missing`),
  };
}

async function createParameterSetting(): Promise<SettingUnderTest> {
  const { client, set } = createParameterStore();
  set(PARAMETER, 'memories');
  return {
    setting: createSsmCollectionSetting({ client, parameter: PARAMETER }),
    missing: createSsmCollectionSetting({ client, parameter: '/memory/missing' }),
  };
}

const { SSM_ENDPOINT: endpoint = '' } = process.env;

async function createServerSetting(): Promise<SettingUnderTest> {
  const client = new SSMClient({ endpoint });
  const parameter = `/memory/${randomUUID()}`;
  const Type = 'String';
  await client.send(new PutParameterCommand({ Name: parameter, Value: 'memories', Type }));
  return {
    setting: createSsmCollectionSetting({ client, parameter }),
    missing: createSsmCollectionSetting({ client, parameter: `${parameter}-missing` }),
  };
}

const STORAGES: [name: string, open: () => Promise<SettingUnderTest>][] = [
  ['a file', createFileSetting],
  ['a parameter', createParameterSetting],
];
if (endpoint !== '') STORAGES.push(['the Parameter Store', createServerSetting]);

describe.each(STORAGES)('the collection setting in %s', (_, open) => {
  let subject: SettingUnderTest;

  beforeEach(async () => {
    subject = await open();
  });

  it('changes from the expected value and back, and accepts a repeated change', async () => {
    for (const [from, to] of [
      ['memories', 'memories_v3'],
      ['memories', 'memories_v3'],
      ['memories_v3', 'memories'],
    ] as const) {
      await subject.setting.change({ from, to });
      expect(await subject.setting.read()).toBe(to);
    }
  });

  it('is not changed if it has another value', async () => {
    const change = subject.setting.change({ from: 'memories_v2', to: 'memories_v3' });
    await expect(change).rejects.toEqual(failureNamed('RefusedSettingChanged'));
    expect(await subject.setting.read()).toBe('memories');
  });

  it('can be probed without being changed', async () => {
    await subject.setting.tryWrite();
    expect(await subject.setting.read()).toBe('memories');
    await subject.setting.change({ from: 'memories', to: 'memories_v3' });
    expect(await subject.setting.read()).toBe('memories_v3');
    await expect(subject.missing.tryWrite()).rejects.toEqual(failureNamed('RefusedSetting'));
  });

  it('is named in the error if it does not exist', async () => {
    await expect(subject.missing.read()).rejects.toEqual(failureNamed('RefusedSetting'));
  });
});

describe('a setting in a file', () => {
  /** Enough for each writer to win some races */
  const RACES = 40;

  it.each([
    [
      'gets one of several names that are written at the same time',
      ['memories_a', 'memories_b', 'memories_c'],
    ],
    ['accepts the same name from several writers at the same time', Array(3).fill('memories_v3')],
  ])('%s', async (_, names: string[]) => {
    for (let race = 0; race < RACES; race += 1) {
      const { setting } = await createFileSetting();
      const changes = await Promise.allSettled(
        names.map((to) => setting.change({ from: 'memories', to })),
      );
      const succeeded = names.filter((_, n) => changes[n]?.status === 'fulfilled');
      const written = await setting.read();
      expect(succeeded).toEqual(names.filter((name) => name === written));
      for (const change of changes) {
        if (change.status === 'rejected')
          expect(change.reason).toEqual(failureNamed('RefusedSettingChanged'));
      }
    }
  });

  it.each(['COLLECTION=memories\n', 'export COLLECTION = memories', 'memories\nothers\n'])(
    'is neither read nor replaced if it contains more than a name: %j',
    async (content) => {
      const file = join(await mkdtemp(join(folder, 'case-')), '.env');
      await writeFile(file, content);
      const setting = createFileCollectionSetting(file);
      const refusal = failureNamed(
        'RefusedSetting',
        /COLLECTION_SETTING contains more than a collection's name/,
      );
      await expect(setting.read()).rejects.toEqual(refusal);
      await expect(setting.change({ from: content, to: 'other' })).rejects.toEqual(refusal);
      expect(await readFile(file, 'utf8')).toBe(content);
    },
  );

  it('completes a change that a crash interrupted, and leaves no other file', async () => {
    const directory = await mkdtemp(join(folder, 'case-'));
    await writeFile(join(directory, 'collection'), 'memories\n');
    await writeFile(join(directory, 'collection.next'), 'memories_v3\n');
    const setting = createFileCollectionSetting(join(directory, 'collection'));
    const conflict = setting.change({ from: 'memories', to: 'memories_v4' });
    await expect(conflict).rejects.toEqual(failureNamed('RefusedSettingChanged'));
    await setting.change({ from: 'memories', to: 'memories_v3' });
    expect(await setting.read()).toBe('memories_v3');
    expect(await readdir(directory)).toEqual(['collection']);
  });
});

describe('a setting in a parameter', () => {
  const CHANGE = { from: 'memories', to: 'memories_v3' };

  function open() {
    const store = createParameterStore();
    store.set(PARAMETER, 'memories');
    const setting = createSsmCollectionSetting({ client: store.client, parameter: PARAMETER });
    return { store, setting };
  }

  it('keeps the first of two concurrent changes, and refuses the second', async () => {
    const { setting } = open();
    const [first, second] = await Promise.allSettled([
      setting.change({ from: 'memories', to: 'memories_a' }),
      setting.change({ from: 'memories', to: 'memories_b' }),
    ]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({
      status: 'rejected',
      reason: { name: 'RefusedSettingChanged', message: expect.stringContaining('"memories_a"') },
    });
    expect(await setting.read()).toBe('memories_a');
  });

  it('restores a value that another client wrote between our read and our write, and names the value', async () => {
    const { store, setting } = open();
    store.writeBefore(PARAMETER, 'in-between', 'another-clients');
    await expect(setting.change(CHANGE)).rejects.toThrow(/"another-clients"/);
    expect(await setting.read()).toBe('another-clients');
  });

  it('keeps a value that another client wrote after ours', async () => {
    const { store, setting } = open();
    store.writeBefore(PARAMETER, 'another-clients');
    store.writeAfter(PARAMETER, 'the-latest');
    await expect(setting.change(CHANGE)).rejects.toEqual(failureNamed('RefusedSettingChanged'));
    expect(await setting.read()).toBe('the-latest');
  });

  it.each(['memories', 'memories_v3'])(
    'treats a concurrent change to %s as our own',
    async (name) => {
      const { store, setting } = open();
      store.writeBefore(PARAMETER, name);
      await setting.change(CHANGE);
      expect(await setting.read()).toBe('memories_v3');
    },
  );

  it('loses the value of another client if the step is killed before it restores that value', async () => {
    const { store, setting } = open();
    store.writeBefore(PARAMETER, 'another-clients');
    const send = store.client.send as (command: unknown) => Promise<{ Version?: number }>;
    let isDead = false;
    const sendUntilKilled = async (command: unknown) => {
      if (isDead) throw new Error('killed');
      const response = await send(command);
      isDead = response.Version !== undefined;
      return response;
    };
    const client = { send: sendUntilKilled as typeof store.client.send };
    const killed = createSsmCollectionSetting({ client, parameter: PARAMETER });
    await expect(killed.change(CHANGE)).rejects.toThrow('killed');
    // A store without conditional writes cannot do better (see the decision record).
    await setting.change(CHANGE);
    expect(await setting.read()).toBe('memories_v3');
  });
});
