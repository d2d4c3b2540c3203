// The options that make a function one small ESM file. The deployed bundle, the local one and the bench share them.
import { resolve } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const SCRIPT_SUFFIX = '?script';
/** Lets Chromium compile a script as it arrives, on another thread, instead of each function when it is first called. */
const COMPILE_ON_LOAD = '//# allFunctionsCalledOnLoad';

async function bundleToText(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    ...options,
    bundle: true,
    write: false,
    legalComments: 'none',
    format: 'esm',
  });
  return outputFiles?.[0]?.text ?? '';
}

/** `import text from './main.tsx?script'`: a script for browsers with all that it imports, as text. */
const browserScripts: Plugin = {
  name: 'browser-scripts',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?script$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.slice(0, -SCRIPT_SUFFIX.length)),
      suffix: SCRIPT_SUFFIX,
    }));
    onLoad({ filter: /\.tsx?$/ }, async ({ path, suffix }) => {
      if (suffix !== SCRIPT_SUFFIX) return undefined;
      const contents = await bundleToText({
        entryPoints: [path],
        minify: true,
        platform: 'browser',
        target: 'es2023',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        banner: { js: COMPILE_ON_LOAD },
      });
      return { contents, loader: 'text' };
    });
  },
};

/** Evaluates the modules of `web/static` at build time: a bundle contains their exports, compressed texts, but not their sources. */
const staticTexts: Plugin = {
  name: 'static-texts',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]web[/\\]static[/\\][\w-]+\.ts$/ }, async ({ path }) => {
      const source = await bundleToText({
        entryPoints: [path],
        platform: 'node',
        plugins: [browserScripts],
      });
      const exported: object = await import(
        `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`
      );
      const contents = Object.entries(exported)
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join('\n');
      return { contents, loader: 'js' };
    });
  },
};

export const bundleOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // esbuild's default for node takes the CommonJS builds of the SDK: twice the size, no faster.
  mainFields: ['module', 'main'],
  alias: {
    // In Lambda the credentials are in the environment; the SDK's default chain is a third of a bundle.
    '@aws-sdk/credential-provider-node': './serverless/bundle/environment-credentials.ts',
    'node:http': './serverless/bundle/node-http.ts',
    'node:crypto': './serverless/bundle/node-crypto.ts',
    '@aws/lambda-invoke-store': './serverless/bundle/invoke-store.ts',
    '@aws-sdk/middleware-endpoint-discovery': './serverless/bundle/endpoint-discovery.ts',
    '@smithy/core/event-streams': './serverless/bundle/event-streams.ts',
    rxjs: './serverless/bundle/reactive-sessions.ts',
    'rxjs/operators': './serverless/bundle/reactive-sessions.ts',
  },
  // CommonJS packages call `require` for Node's own modules, which an ES module does not have.
  banner: { js: 'const require = process.getBuiltinModule;' },
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  plugins: [staticTexts],
} satisfies BuildOptions;

// If only the template is needed, the entry points stay unbundled.
const unbundledOptions = { bundle: false, platform: 'node', format: 'esm' } satisfies BuildOptions;

function createPackagingOptions() {
  return {
    ...(process.env.ONLY_TEMPLATE ? unbundledOptions : bundleOptions),
    concurrency: 2,
    exclude: [],
    outputFileExtension: '.mjs',
    skipRebuild: true,
    // One folder for each process: `npm start` and a packaging may run at the same time.
    outputWorkFolder: process.env.BUILD_FOLDER ?? `.esbuild/${process.pid}`,
    // Watching is off: a rebuild would delete files that running requests need.
    watch: { pattern: [], ignore: [], chokidar: { ignoreInitial: true } },
  };
}

// serverless-esbuild requires this file, and calls the export of this name.
export { createPackagingOptions as 'module.exports' };
