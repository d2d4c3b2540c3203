// A DynamoDB client with a hook that runs before each command, and may throw.
import type { Client } from './store-faults.ts';

/** @param before gets the name of each command, such as `QueryCommand`, and its input; its errors reach the caller */
export function interpose(
  client: Client,
  before: (commandName: string, input: object) => Promise<void> | void,
): Client {
  async function send(command: Parameters<Client['send']>[0], options: object) {
    await before(command.constructor.name, command.input);
    return await client.send(command, options);
  }
  return { send: send as Client['send'] };
}

/** Calls `intervene` once, before the first command named `commandName`. */
export function callOnceBefore(
  client: Client,
  commandName: string,
  intervene: () => Promise<unknown>,
): Client {
  let done = false;
  return interpose(client, async (name) => {
    if (done || name !== commandName) return;
    done = true;
    await intervene();
  });
}
