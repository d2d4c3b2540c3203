// The bundle of a function that needs no database contains no database client and does not load node:crypto, so the function
// starts in half the time. Static texts are compressed before they are bundled.
import { gunzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { bundleOptions } from '../../../../../serverless/bundle/esbuild.config.ts';

const bundles = new Map<string, ReturnType<typeof createBundle>>();

function getBundle(name: string) {
  const bundle = bundles.get(name) ?? createBundle(name);
  bundles.set(name, bundle);
  return bundle;
}

async function createBundle(name: string) {
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
  '%s contains no AWS SDK and loads no node:crypto',
  async (name) => {
    const { metafile } = await getBundle(name);
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
  const { code } = await getBundle(name);
  const texts = [...code.matchAll(/"(H4sI[\w+/=]+)"/g)].map(([, text = '']) =>
    gunzipSync(Buffer.from(text, 'base64')).toString(),
  );
  expect(texts.some((text) => text.includes(part))).toBe(true);
  expect(code).not.toContain(part);
});
