// Lines of a stream of bytes, each of which has to end.

/**
 * Not by node:readline, for which U+2028 ends a line as well: JSON leaves it inside of text.
 * @throws SyntaxError when the last line is cut short
 */
export async function* splitLines(content: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  for await (const chunk of content) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest + decoder.decode()) throw new SyntaxError('The last line is cut short');
}
