// The bundle of a function that needs no database contains no database client and does not load node:crypto, so the function
// starts in half the time. Static texts are compressed before they are bundled.
import { gunzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { bundleOptions } from '../../../../../serverless/bundle/esbuild.config.ts';

const bundles = new Map<string, ReturnType<typeof makeBundle>>();

function bundle(name: string) {
  const made = bundles.get(name) ?? makeBundle(name);
  bundles.set(name, made);
  return made;
}

async function makeBundle(name: string) {
  const { metafile, outputFiles } = await build({
    ...bundleOptions,
    entryPoints: [`functions/service/${name}.ts`],
    outfile: `${name}.mjs`,
    write: false,
    metafile: true,
  });
  return { metafile, code: outputFiles.find(({ path }) => path.endsWith('.mjs'))?.text ?? '' };
}

it.each(['not-found', 'preflight', 'openapi', 'page'])(
  '%s has no SDK of AWS and loads no node:crypto',
  async (name) => {
    const { metafile } = await bundle(name);
    const used = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
    const files = used.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? file : []));
    expect(files.filter((file) => /@aws-sdk|@smithy/.test(file))).toEqual([]);
    expect(files.length).toBeGreaterThan(5);
    const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
    expect(imported.map(({ path }) => path)).not.toContain('node:crypto');
  },
);

it.each([
  ['openapi', 'operationId'],
  ['docs', 'SwaggerUIBundle'],
  ['page', '<!doctype html>'],
])('%s contains its text only compressed', async (name, part) => {
  const { code } = await bundle(name);
  const texts = [...code.matchAll(/"(H4sI[\w+/=]+)"/g)].map(([, text = '']) =>
    gunzipSync(Buffer.from(text, 'base64')).toString(),
  );
  expect(texts.some((text) => text.includes(part))).toBe(true);
  expect(code).not.toContain(part);
});
