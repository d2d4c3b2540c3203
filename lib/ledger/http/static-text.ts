// Static text files that need no API key: pages, their styles and scripts, the API description. They are kept only in compressed
// form: the gateway does not compress, and nearly every client accepts gzip.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface StaticText {
  /** The text, compressed with gzip, in Base64. */
  readonly compressedText: string;
  readonly hash: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes browsers revalidate a file at every use. The file is sent again only if it has changed. */
export const ALWAYS_REVALIDATE = { 'cache-control': 'no-cache' };

/** @param headers headers besides those of every response, with names in lower case */
export function createStaticText(
  text: string,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): StaticText {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  return {
    compressedText: gzipSync(text, { level: 9 }).toString('base64'),
    hash,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'public, max-age=300',
      // Weak, because the compressed and the plain text have the same ETag.
      etag: `W/"${hash}"`,
      vary: 'accept-encoding',
      ...headers,
    },
  };
}
