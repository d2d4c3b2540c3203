// The obvious first version of a copy, for comparison: scroll, upsert, and nothing else. It parses and writes JSON with
// JavaScript's own functions, so it changes payloads.

const PAGE_SIZE = 256;

interface ScrollResponse {
  readonly result: { readonly points: object[]; readonly next_page_offset: unknown };
}

export async function copyByBareLoop(options: {
  readonly url: string;
  readonly source: string;
  readonly target: string;
}): Promise<number> {
  const { url, source, target } = options;
  const startedAt = performance.now();
  let offset: unknown = null;
  do {
    const request = { limit: PAGE_SIZE, offset, with_payload: true, with_vector: true };
    const { result } = await send('POST', `${url}/collections/${source}/points/scroll`, request);
    await send('PUT', `${url}/collections/${target}/points?wait=true`, { points: result.points });
    offset = result.next_page_offset;
  } while (offset !== null);
  return performance.now() - startedAt;
}

async function send(method: string, url: string, body: object): Promise<ScrollResponse> {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${method} ${url}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as ScrollResponse;
}
