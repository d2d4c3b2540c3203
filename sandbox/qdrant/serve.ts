// node sandbox/qdrant/serve.ts [port]: a Qdrant sandbox of its own process, until it is stopped.
import { startQdrantSandbox } from './server.ts';

const port = Number(process.argv[2] ?? 0);
const sandbox = await startQdrantSandbox({ port });
console.log(`Qdrant sandbox on ${sandbox.url}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void sandbox.close());
}
