// How a graph, its dump or its restore fails. Only an unavailable graph is worth another try as it stands.

/** The graph cannot be reached, is overloaded, or ended the transaction by itself. */
export class GraphUnavailableError extends Error {
  override readonly name = 'GraphUnavailableError';
}

/** The credentials are wrong, or may not do this. */
export class GraphAccessDeniedError extends Error {
  override readonly name = 'GraphAccessDeniedError';
}

/** The graph understood and says no, or is a version that does not understand; asking again changes nothing. */
export class GraphRefusedError extends Error {
  override readonly name = 'GraphRefusedError';
  readonly code: string;

  /** @param code the graph's own; its text may quote what is in the graph */
  constructor(code: string, options?: ErrorOptions) {
    super(`The graph does not do what it is asked: ${code}`, options);
    this.code = code;
  }
}

/** Somebody wrote to the graph while it was read: what was read is no dump. Stop the writers, then dump again. */
export class GraphDriftedError extends Error {
  override readonly name = 'GraphDriftedError';
}

/** The graph uses a name that a restore needs for itself. */
export class UnrestorableGraphError extends Error {
  override readonly name = 'UnrestorableGraphError';
}

/** A relationship starts or ends at a node that is not there. */
export class DanglingRelationshipError extends Error {
  override readonly name = 'DanglingRelationshipError';
}

/** What is kept is not what was dumped. */
export class DamagedDumpError extends Error {
  override readonly name = 'DamagedDumpError';
}

/** The target is not, or no longer, fit for this restore. */
export class GraphRestoreError extends Error {
  override readonly name = 'GraphRestoreError';
}
