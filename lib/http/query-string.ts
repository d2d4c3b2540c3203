// A query string as it was sent. Bytes that are not UTF-8 would be decoded to another text than the one meant.

const ENCODED_BYTES = /(%[0-9a-f]{2})+/gi;

export const NOT_UTF8 = 'The query string is not valid UTF-8';

export function isUtf8(rawQueryString: string): boolean {
  try {
    rawQueryString.replace(ENCODED_BYTES, (bytes) => decodeURIComponent(bytes));
    return true;
  } catch {
    return false;
  }
}
