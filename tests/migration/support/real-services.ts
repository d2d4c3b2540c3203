// Which real services the environment variables name, and a user of a mem0 service.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';

/** True in `npm run test:real`. Stand-ins are then skipped: `npm test` runs the same contracts on them. */
export const ONLY_REAL = process.env.TEST_MODE === 'real';

export const REAL_QDRANT = process.env.QDRANT_URL || undefined;

/** True if a test may start its own Qdrant. */
export const hasQdrantProgram = Boolean(process.env.QDRANT_BIN);

export const hasMem0 = Boolean(process.env.MEM0_1_PYTHON && process.env.MEM0_2_PYTHON);

const answerSchema = v.object({
  results: v.optional(v.array(v.object({ id: v.string(), memory: v.optional(v.string()) })), []),
  memory_count: v.optional(v.number(), 0),
});

/** The service answered with a status other than 200, or added nothing. */
export class Mem0RefusalError extends Error {
  override readonly name = 'Mem0RefusalError';
  readonly status: number;

  constructor(status: number, text: string) {
    super(`The memory service answered ${status}: ${text}`);
    this.status = status;
  }
}

export type Mem0User = ReturnType<typeof createMem0User>;

/** Creates a user with their own key, who calls a mem0 service as an application does. */
export function createMem0User(userId: string) {
  const key = `key-${randomUUID()}`;

  async function call(method: string, url: string, path: string, body?: object) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify({ user_id: userId, ...body }) } : {}),
    });
    if (response.status !== 200) throw new Mem0RefusalError(response.status, await response.text());
    return v.parse(answerSchema, await response.json());
  }

  return {
    userId,
    keys: { [key]: userId },
    /** @returns the id of the memory */
    async add(url: string, content: string): Promise<string> {
      const { results } = await call('POST', url, '/memories', { messages: [{ content }] });
      const [added] = results;
      // If its vector store fails, mem0 only logs the error, and answers 200 without a result.
      if (!added) throw new Mem0RefusalError(200, 'nothing was added');
      return added.id;
    },
    async change(url: string, id: string, text: string): Promise<void> {
      await call('PUT', url, `/memories/${id}`, { text });
    },
    async remove(url: string, id: string): Promise<void> {
      await call('DELETE', url, `/memories/${id}`);
    },
    /** @returns ids, best first */
    async search(url: string, query: string): Promise<string[]> {
      const { results } = await call('POST', url, '/memories/search', { query });
      return results.map(({ id }) => id);
    },
    /** @returns the texts by id */
    async list(url: string): Promise<Map<string, string | undefined>> {
      const { results } = await call('GET', url, `/memories/${encodeURIComponent(userId)}`);
      return new Map(results.map(({ id, memory }) => [id, memory]));
    },
    async count(url: string): Promise<number> {
      return (await call('GET', url, `/stats/${encodeURIComponent(userId)}`)).memory_count;
    },
  };
}
