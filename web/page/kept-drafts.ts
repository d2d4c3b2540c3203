// Text that a person has typed and not saved yet. It survives a reload, and is written after the frame of the key press: storage would
// hold that up.
const DELAY_MS = 200;

const unwritten = new Map<string, object>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** @returns undefined where there is none, or none that can be read */
export function readDraft<Kept extends object>(name: string): Kept | undefined {
  const latest = unwritten.get(name);
  if (latest) return latest as Kept;
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Drafts whose names begin with the prefix, by name. */
export function readDrafts<Kept extends object>(prefix: string): ReadonlyMap<string, Kept> {
  const stored = Array.from({ length: sessionStorage.length }, (_, n) => sessionStorage.key(n));
  const found = new Map<string, Kept>();
  for (const name of [...stored, ...unwritten.keys()]) {
    const kept = name?.startsWith(prefix) ? readDraft<Kept>(name) : undefined;
    if (name && kept) found.set(name, kept);
  }
  return found;
}

export function keepDraft(name: string, draft: object): void {
  unwritten.set(name, draft);
  timer ??= setTimeout(writeDrafts, DELAY_MS);
}

export function dropDraft(name: string): void {
  unwritten.delete(name);
  try {
    sessionStorage.removeItem(name);
  } catch {
    // The browser refuses its storage, so none is kept there.
  }
}

/** Writes what is not written yet, at once: a page that is hidden or left may not run again. */
export function writeDrafts(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const [name, draft] of unwritten) {
    try {
      sessionStorage.setItem(name, JSON.stringify(draft));
      unwritten.delete(name);
    } catch {
      // Its space is used up: the page alone has the draft.
    }
  }
}
