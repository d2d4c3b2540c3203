// Finds a free port for a program that does not listen on it immediately.
import { randomInt } from 'node:crypto';
import getPort, { portNumbers } from 'get-port';

/**
 * Ports above those that `fetch` refuses, such as 10080, and below those that systems assign to connections and to programs that
 * ask for any port: another program could get one of those first.
 */
const MIN_PORT = 11_000;
const MAX_PORT = 32_767;

export function findFreePort(): Promise<number> {
  return getPort({ port: portNumbers(randomInt(MIN_PORT, MAX_PORT), MAX_PORT) });
}
