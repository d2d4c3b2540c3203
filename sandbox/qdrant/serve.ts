// Usage: node sandbox/qdrant/serve.ts [port]. Runs a Qdrant sandbox as its own process, until SIGINT or SIGTERM.
import { startQdrantSandbox } from './server.ts';

const port = Number(process.argv[2] ?? 0);
const sandbox = await startQdrantSandbox({ port });
console.log(`Qdrant sandbox on ${sandbox.url}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void sandbox.close());
}
