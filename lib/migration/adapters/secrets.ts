// Reads secrets from Systems Manager (which also serves those of Secrets Manager), or from the environment.
import { inspect } from 'node:util';
import { GetParameterCommand, ParameterNotFound, type SSMClient } from '@aws-sdk/client-ssm';
import { Refusal } from '../refusals.ts';

/**
 * On a developer's machine, the variable NAME contains the secret. Elsewhere, NAME_PARAMETER names a SecureString parameter, or a
 * secret of Secrets Manager as `/aws/reference/secretsmanager/<its name>`.
 */
export function createSecrets(options: {
  readonly client: Pick<SSMClient, 'send'>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}) {
  const { client, environment } = options;

  /** @param name name of the variable, without _PARAMETER. @returns undefined if neither variable is set */
  async function find(name: string): Promise<Secret | undefined> {
    const parameter = environment[`${name}_PARAMETER`];
    const value = parameter ? await readParameter(client, parameter) : environment[name];
    if (parameter && !value) {
      throw new Refusal('RefusedSetting', `The parameter ${parameter} for ${name} is empty.`);
    }
    return value ? createSecret(value) : undefined;
  }

  /** @throws Refusal if neither variable is set */
  async function read(name: string): Promise<Secret> {
    const secret = await find(name);
    if (secret) return secret;
    throw new Refusal('RefusedSetting', `${name} is not set, nor ${name}_PARAMETER.`);
  }

  return { find, read };
}

async function readParameter(
  client: Pick<SSMClient, 'send'>,
  parameter: string,
): Promise<string | undefined> {
  try {
    const response = await client.send(
      new GetParameterCommand({ Name: parameter, WithDecryption: true }),
    );
    return response.Parameter?.Value;
  } catch (cause) {
    if (!(cause instanceof ParameterNotFound)) throw cause;
    throw new Refusal('RefusedSetting', `There is no parameter ${parameter}.`, { cause });
  }
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

export type Secrets = ReturnType<typeof createSecrets>;
