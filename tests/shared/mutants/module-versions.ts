// Lets a worker that stays load the modules of the project anew for each run of a test file. Vitest puts a version into the URL
// of the test file; a module takes over the version of the module that imports it. Packages have none, and stay loaded.
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PROJECT = pathToFileURL(join(import.meta.dirname, '../../../')).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    // Last in the URL: a test can put a query of its own before it, to load a module twice.
    const [version] = context.parentURL?.match(/\?vitest=\d+$/) ?? [];
    if (version === undefined || !resolved.url.startsWith(PROJECT)) return resolved;
    return { ...resolved, url: `${resolved.url}${version}` };
  },
});
