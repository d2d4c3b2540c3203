// A port for a program that takes a while until it listens there.
import { randomInt } from 'node:crypto';
import getPort, { portNumbers } from 'get-port';

/**
 * Below what systems give to connections and to programs that ask for any port: such a port could be given away. Above
 * those that `fetch` refuses, such as 10080.
 */
const LOWEST = 11_000;
const HIGHEST = 32_767;

export function freePort(): Promise<number> {
  return getPort({ port: portNumbers(randomInt(LOWEST, HIGHEST), HIGHEST) });
}
