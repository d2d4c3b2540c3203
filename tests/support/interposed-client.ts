// A DynamoDB client with somebody in between: what a test does before a command goes out, a failure included.
import type { Client } from './store-faults.ts';

/** @param before is told the name of each command, such as `QueryCommand`, and its input; what it throws the caller gets */
export function interpose(
  client: Client,
  before: (commandName: string, input: object) => Promise<void> | void,
): Client {
  async function send(command: Parameters<Client['send']>[0]) {
    await before(command.constructor.name, command.input);
    return await client.send(command);
  }
  return { send: send as Client['send'] };
}

/** Does something once, before the first command of that name. */
export function onceBefore(
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
