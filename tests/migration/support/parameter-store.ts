// A double of Systems Manager's parameters as the migration uses them: values, versions, and writes by other clients.
import {
  GetParameterCommand,
  ParameterNotFound,
  PutParameterCommand,
  type SSMClient,
} from '@aws-sdk/client-ssm';

export interface ParameterStore {
  readonly client: Pick<SSMClient, 'send'>;
  /** Lets another client write these values, in order, just before the next write arrives. */
  writeBefore(name: string, ...values: string[]): void;
  /** Lets another client write this value just after the next write has arrived. */
  writeAfter(name: string, value: string): void;
  set(name: string, value: string): void;
}

export function createParameterStore(): ParameterStore {
  const histories = new Map<string, string[]>();
  const before: (readonly [name: string, value: string])[] = [];
  const after: (readonly [name: string, value: string])[] = [];

  function set(name: string, value: string): number {
    const history = histories.get(name) ?? [];
    histories.set(name, [...history, value]);
    return history.length + 1;
  }

  function get(selector = ''): { Value: string; Version: number } {
    const [name = '', version] = selector.split(':');
    const history = histories.get(name) ?? [];
    const Version = version === undefined ? history.length : Number(version);
    const Value = history[Version - 1];
    if (Value === undefined) throw new ParameterNotFound({ message: '', $metadata: {} });
    return { Value, Version };
  }

  const send = async (command: unknown) => {
    if (command instanceof GetParameterCommand) return { Parameter: get(command.input.Name) };
    if (!(command instanceof PutParameterCommand)) throw new Error('Unexpected call');
    for (const [name, value] of before.splice(0)) set(name, value);
    const Version = set(command.input.Name ?? '', command.input.Value ?? '');
    for (const [name, value] of after.splice(0)) set(name, value);
    return { Version };
  };

  return {
    client: { send: send as SSMClient['send'] },
    set,
    writeBefore: (name, ...values) => {
      before.push(...values.map((value) => [name, value] as const));
    },
    writeAfter: (name, value) => {
      after.push([name, value]);
    },
  };
}
