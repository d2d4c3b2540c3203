// What the migration asks of the memory backend: the six endpoints of the service document, and no other.

export interface MemoryBackend {
  /** @throws RetryableFailure while it is not healthy */
  health(): Promise<void>;
  /** One round trip; it may write memories, as may any other chat. */
  chat(userId: string, message: string): Promise<void>;
  /** What it makes of the text is its own affair: one memory, several, or none. */
  addMemory(userId: string, text: string): Promise<void>;
  /** How many memories it found. */
  search(userId: string, query: string): Promise<number>;
  /** Id of what it finds first; undefined where it finds nothing, or does not tell ids. */
  bestMatch(userId: string, query: string): Promise<string | number | undefined>;
  /** A second witness only: versions of the backend cap the number. 0 when the backend gives none. */
  memoryCount(userId: string): Promise<number>;
  /** Whether the graph of relationships is declared deprecated, as the new version does. */
  isGraphDeprecated(userId: string): Promise<boolean>;
}

/** A user that no person is, for whom the run writes; the key it is given has to map to that user. */
export function testUserOf(runId: string): string {
  return `${TEST_USER}${runId}`;
}

/** Nobody's name: messages may show it. */
export function isTestUser(userId: string): boolean {
  return userId.startsWith(TEST_USER);
}

const TEST_USER = '__migration_test_';
