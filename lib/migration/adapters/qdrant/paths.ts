// Paths of Qdrant's REST that lie under a collection.

export function pathOf(collection: string, rest = ''): string {
  return `/collections/${encodeURIComponent(collection)}${rest}`;
}
