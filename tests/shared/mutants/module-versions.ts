// Makes a lasting worker load the modules of the project again for each run of a test file. Vitest puts a version into the URL of
// the test file; each module inherits the version of its importer. Packages have no version, and stay loaded.
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PROJECT = pathToFileURL(join(import.meta.dirname, '../../../')).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    // Last in the URL: a test can put its own query before the version, to load a module twice.
    const [version] = context.parentURL?.match(/\?vitest=\d+$/) ?? [];
    if (version === undefined || !resolved.url.startsWith(PROJECT)) return resolved;
    return { ...resolved, url: `${resolved.url}${version}` };
  },
});
