// The process of the local gateway: runs serverless-offline with the service definition that local/build.ts resolved.
// serverless-offline is a plugin of the Serverless Framework. The framework itself is not loaded here: it would take more memory
// than the gateway and the functions together.
// Usage: offline.ts <build folder> <socket of the API> <socket of the Lambda server>
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ServerlessOffline, { type Definition } from 'serverless-offline';

const [, , buildFolder = '', httpPort = '', lambdaPort = ''] = process.argv;
const PROJECT = join(import.meta.dirname, '..');

const definition: Definition = JSON.parse(
  readFileSync(join(buildFolder, 'definition.json'), 'utf8'),
);
const gateway = new ServerlessOffline(
  {
    config: { servicePath: PROJECT },
    serviceDir: PROJECT,
    service: {
      ...definition,
      getAllFunctions: () => Object.keys(definition.functions),
      getFunction: (name) => definition.functions[name],
      getAllEventsInFunction: (name) => definition.functions[name]?.events,
    },
  },
  {
    location: resolve(buildFolder),
    // Sockets instead of ports, because every page and program on this machine could reach a port. Nothing uses the Lambda
    // server, but serverless-offline always starts it.
    ...{ httpPort, lambdaPort },
    noPrependStageInUrl: true,
    noSponsor: true,
    // Functions are as fast in this process as in workers, and no worker must start for each concurrent call.
    useInProcess: true,
    // The timer would keep each response in memory until the function's time limit. The functions have their own deadline.
    noTimeout: true,
    // Other programs on localhost set cookies. The API reads none, and API Gateway refuses none.
    disableCookieValidation: true,
  },
  { log: { ...createSilentLog(), warning: console.error, error: console.error } },
);

process.once('SIGTERM', () => gateway.end());
await gateway.start();

/** Ignores the lines that the gateway prints for each request and route. */
function createSilentLog() {
  const ignore = () => undefined;
  return { debug: ignore, info: ignore, notice: ignore, verbose: ignore };
}
