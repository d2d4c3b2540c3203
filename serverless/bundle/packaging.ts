// A plug-in of the packager, which bundles each function. `npm start` has bundled all of them in one pass (local/gateway.ts): its
// gateway is only told where, and does not load the bundler, a third of the code in its memory.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { LOCAL_BUNDLES } = process.env;

interface Serverless {
  readonly service: { readonly custom: Record<string, object> };
}

class Bundled {
  constructor({ service: { custom } }: Serverless) {
    custom['serverless-offline'] = { ...custom['serverless-offline'], location: LOCAL_BUNDLES };
  }
}

const packaging: unknown = LOCAL_BUNDLES ? Bundled : require('serverless-esbuild');

// The packager requires this file and calls what it gets.
export { packaging as 'module.exports' };
