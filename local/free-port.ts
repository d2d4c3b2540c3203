// Ports: which one is free, and whether the wanted one is.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { StartError } from './start-error.ts';

/** A port that the system says is free on the loopback address at this moment. */
export async function findFreePort(): Promise<number> {
  return listenBriefly(0, '127.0.0.1');
}

/** @throws StartError when somebody listens on the port, or we may not */
export async function assertPortFree(port: number): Promise<void> {
  // "localhost" may be either address: somebody on the other one would get our callers.
  for (const host of ['127.0.0.1', '::1']) {
    try {
      await listenBriefly(port, host);
    } catch (error) {
      refuseUnlessNoSuchAddress(port, (error as NodeJS.ErrnoException).code);
    }
  }
}

async function listenBriefly(port: number, host: string): Promise<number> {
  const server = createServer();
  server.listen({ port, host, exclusive: true });
  await once(server, 'listening');
  const { port: found } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return found;
}

function refuseUnlessNoSuchAddress(port: number, code: string | undefined): void {
  if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return;
  if (code === 'EADDRINUSE') {
    throw new StartError(`Port ${port} is in use; choose another one with PORT`);
  }
  throw new StartError(`Port ${port} cannot be used (${code}); choose another one with PORT`);
}
