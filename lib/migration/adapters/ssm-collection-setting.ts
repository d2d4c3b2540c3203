// The collection-name setting as a parameter of Systems Manager.
import {
  GetParameterCommand,
  ParameterNotFound,
  PutParameterCommand,
  type SSMClient,
} from '@aws-sdk/client-ssm';
import {
  type CollectionSetting,
  refuseChangedSetting,
  refuseMissingSetting,
} from '../ports/collection-setting.ts';

export function createSsmCollectionSetting(options: {
  readonly client: Pick<SSMClient, 'send'>;
  readonly parameter: string;
}): CollectionSetting {
  const { client, parameter: Name } = options;

  /** @param selector NAME:VERSION; by default the current version */
  async function readVersion(selector = Name): Promise<{ name: string; version: number }> {
    try {
      const { Parameter } = await client.send(new GetParameterCommand({ Name: selector }));
      return { name: Parameter?.Value?.trim() ?? '', version: Parameter?.Version ?? 0 };
    } catch (error) {
      throw error instanceof ParameterNotFound ? refuseMissingSetting(Name, error) : error;
    }
  }

  async function read(): Promise<string> {
    return (await readVersion()).name;
  }

  // Parameters have no conditional write, but every write gets a version number. If the number of our write does not directly
  // follow the version that was read, our write has replaced another writer's value, which is restored and reported. After a crash
  // in between, our value remains and the next read finds it: docs/migration/decisions/0006-collection-setting.md.
  async function change({ from, to }: { from: string; to: string }): Promise<void> {
    const current = await readVersion();
    if (current.name === to) return;
    if (current.name !== from) throw refuseChangedSetting(current.name, from);
    await replace(current, to);
  }

  /** Writes the current value again. */
  async function tryWrite(): Promise<void> {
    const current = await readVersion();
    await replace(current, current.name);
  }

  async function replace(previous: { name: string; version: number }, to: string): Promise<void> {
    const version = await put(to);
    if (version === previous.version + 1) return;
    const overwritten = await readVersion(`${Name}:${version - 1}`);
    // The other write changed nothing, or wrote the same name.
    if (overwritten.name === previous.name || overwritten.name === to) return;
    // If yet another write came after ours, it is kept.
    if ((await readVersion()).version === version) await put(overwritten.name);
    throw refuseChangedSetting(overwritten.name, previous.name);
  }

  async function put(Value: string): Promise<number> {
    const command = new PutParameterCommand({ Name, Value, Type: 'String', Overwrite: true });
    return (await client.send(command)).Version ?? 0;
  }

  return { read, change, tryWrite };
}
