// A rehearsal names the services that it runs on.
import { expect, it, onTestFinished, vi } from 'vitest';
import { describeParts, type Parts } from '../../../../../sandbox/rehearsal/parts.ts';

it('a rehearsal names each service by its address, without a password', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('QDRANT_URL', 'http://ada:secret@store:6333');
  vi.stubEnv('NEO4J_URL', 'bolt://ada:sec@ret@graph:7687');
  vi.stubEnv('MEMORY_BACKEND_URL', 'http://memory');
  const parts = { runId: 'run-a', store: { isReal: true }, graph: {}, backend: {} };
  const lines = describeParts(parts as unknown as Parts).join('\n');
  for (const url of ['http://store:6333', 'bolt://graph:7687', 'http://memory']) {
    expect(lines).toContain(`real, ${url}`);
  }
  expect(lines).not.toMatch(/ada|sec|ret@/);
});
