// Imitates a backend that opens its memory on the first request instead of at startup.
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
