// Secrets: on AWS from Systems Manager (which also hands out those of Secrets Manager), elsewhere from the environment.
import { inspect } from 'node:util';
import { GetParameterCommand, ParameterNotFound, type SSMClient } from '@aws-sdk/client-ssm';
import { Refusal } from '../refusals.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** For a developer's machine: the variable is the secret. */
export function createEnvironmentSecrets(environment: Environment): Secrets {
  return {
    read: async (name) => createSecret(required(environment, name)),
  };
}

/**
 * The variable NAME_PARAMETER names a SecureString parameter, or a secret of Secrets Manager as
 * `/aws/reference/secretsmanager/<its name>`.
 */
export function createSsmSecrets(options: {
  readonly client: Pick<SSMClient, 'send'>;
  readonly environment: Environment;
}): Secrets {
  async function read(name: string) {
    const Name = required(options.environment, `${name}_PARAMETER`);
    const value = await readParameter(options.client, Name);
    if (!value) throw new Refusal('RefusedSetting', `The parameter ${Name} for ${name} is empty.`);
    return createSecret(value);
  }

  return { read };
}

async function readParameter(
  client: Pick<SSMClient, 'send'>,
  Name: string,
): Promise<string | undefined> {
  try {
    const answer = await client.send(new GetParameterCommand({ Name, WithDecryption: true }));
    return answer.Parameter?.Value;
  } catch (cause) {
    if (!(cause instanceof ParameterNotFound)) throw cause;
    throw new Refusal('RefusedSetting', `There is no parameter ${Name}.`, { cause });
  }
}

function required(environment: Environment, name: string): string {
  const value = environment[name];
  if (!value) throw new Refusal('RefusedSetting', `${name} is not set.`);
  return value;
}

const HIDDEN = '[secret]';

export interface Secret {
  reveal(): string;
}

export function createSecret(text: string): Secret {
  return Object.freeze({
    reveal: () => text,
    toString: () => HIDDEN,
    toJSON: () => HIDDEN,
    [inspect.custom]: () => HIDDEN,
  });
}

export interface Secrets {
  /**
   * The secret of a name such as MEMORY_BACKEND_KEY.
   * @throws Refusal naming the variable, where there is none
   */
  read(name: string): Promise<Secret>;
}
