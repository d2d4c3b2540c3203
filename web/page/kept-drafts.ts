// Keeps text that a person has typed and not saved yet, so that it survives a reload. A draft is stored shortly after the key
// press, because storing it at once would delay the frame.
import { tabStorage } from './storage.ts';

const DELAY_MS = 200;

const unwritten = new Map<string, object>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Names a draft so that only its own ledger finds it. No such name is the beginning of another one. */
export function nameOfLedger(kind: string, ledger = ''): string {
  return `${kind} ${encodeURIComponent(ledger)} `;
}

/** @returns undefined if there is no draft, or it cannot be read */
export function readDraft<Kept extends object>(name: string): Kept | undefined {
  const latest = unwritten.get(name);
  if (latest) return latest as Kept;
  try {
    return JSON.parse(tabStorage.getItem(name) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Reads the drafts whose names begin with the prefix, by name. */
export function readDrafts<Kept extends object>(prefix: string): ReadonlyMap<string, Kept> {
  const found = new Map<string, Kept>();
  for (const name of [...tabStorage.listNames(), ...unwritten.keys()]) {
    const kept = name.startsWith(prefix) ? readDraft<Kept>(name) : undefined;
    if (kept) found.set(name, kept);
  }
  return found;
}

export function keepDraft(name: string, draft: object): void {
  unwritten.set(name, draft);
  timer ??= setTimeout(writeDrafts, DELAY_MS);
}

export function dropDraft(name: string): void {
  unwritten.delete(name);
  tabStorage.removeItem(name);
}

/** Stores pending drafts at once: a page that is hidden or left may never run again. */
export function writeDrafts(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const [name, draft] of unwritten) {
    // If the storage is full, only the page has the draft.
    if (tabStorage.setItem(name, JSON.stringify(draft))) unwritten.delete(name);
  }
}
