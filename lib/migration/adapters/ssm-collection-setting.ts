// The collection-name setting as a parameter of Systems Manager.
import {
  GetParameterCommand,
  ParameterNotFound,
  PutParameterCommand,
  type SSMClient,
} from '@aws-sdk/client-ssm';
import {
  type CollectionSetting,
  changedSetting,
  missingSetting,
} from '../ports/collection-setting.ts';

export function createSsmCollectionSetting(options: {
  readonly client: Pick<SSMClient, 'send'>;
  readonly parameter: string;
}): CollectionSetting {
  const { client, parameter: Name } = options;

  async function look(): Promise<{ name: string; version: number }> {
    try {
      const { Parameter } = await client.send(new GetParameterCommand({ Name }));
      return { name: Parameter?.Value?.trim() ?? '', version: Parameter?.Version ?? 0 };
    } catch (error) {
      throw error instanceof ParameterNotFound ? missingSetting(Name, error) : error;
    }
  }

  async function read(): Promise<string> {
    return (await look()).name;
  }

  // A parameter has no conditional write, but every write has a number: where ours is not the next
  // one after what was read, somebody wrote in between, and what they wrote is told.
  async function change({ from, to }: { from: string; to: string }): Promise<void> {
    const before = await look();
    if (before.name === to) return;
    if (before.name !== from) throw changedSetting(before.name);
    const put = new PutParameterCommand({ Name, Value: to, Type: 'String', Overwrite: true });
    const { Version } = await client.send(put);
    if (Version === before.version + 1) return;
    const between = await client.send(
      new GetParameterCommand({ Name: `${Name}:${before.version + 1}` }),
    );
    throw changedSetting(between.Parameter?.Value ?? '');
  }

  return { read, change };
}
