// Whose a failure is. A client's own error says what became of a call, and not which service was asked, nor which
// variable names it; by its class and name others decide whether to try again, so that it stays what it is.

const owners = new WeakMap<Error, string>();

export function markFailure(error: unknown, service: string): void {
  if (error instanceof Error) owners.set(error, service);
}

/** Precedes the error's message; empty where unknown. */
export function whoseFailure(error: Error): string {
  const service = owners.get(error);
  return service === undefined ? '' : `${service}: `;
}
