// Replaces RxJS, an eighth of a bundle: only the reactive sessions of the Neo4j driver use it, and the migration opens none.

export class Observable {
  constructor() {
    throw new Error('Reactive sessions are not part of this bundle');
  }
}
