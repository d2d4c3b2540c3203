// An error that the user at the terminal can act on. It is shown as one line, without a stack.
export class UserError extends Error {
  override readonly name: string = 'UserError';
}

/** Returns the first line of an error's message, for use inside another sentence. */
export function firstLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message || cause.name : String(cause);
  return text.trim().split('\n')[0] ?? '';
}
