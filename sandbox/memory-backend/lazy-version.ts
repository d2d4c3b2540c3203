// Imitates a backend that builds its memory with the first request instead of at its own start.
import type { MemoryVersion } from './memory-version.ts';

export function createLazyVersion(start: () => Promise<MemoryVersion>): MemoryVersion {
  let started: Promise<MemoryVersion> | undefined;
  const version = () => {
    started ??= start().catch((error: unknown) => {
      started = undefined;
      throw error;
    });
    return started;
  };
  return {
    add: async (userId, text) => (await version()).add(userId, text),
    search: async (userId, query) => (await version()).search(userId, query),
    count: async (userId) => (await version()).count(userId),
    relationships: async (userId) => (await version()).relationships(userId),
  };
}
