// Keeps text that a person has typed and not saved yet, so that it survives a reload. A draft is stored shortly after the key
// press, because storing it at once would delay the frame.
import { tabStorage } from './storage.ts';

const DELAY_MS = 200;

const pendingDrafts = new Map<string, object>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Names a draft so that only its own ledger finds it. No such name is a prefix of another. */
export function nameInLedger(kind: string, ledger = ''): string {
  return `${kind} ${encodeURIComponent(ledger)} `;
}

/** @returns undefined if there is no draft, or it cannot be read */
export function readDraft<KeptDraft extends object>(name: string): KeptDraft | undefined {
  const pendingDraft = pendingDrafts.get(name);
  if (pendingDraft) return pendingDraft as KeptDraft;
  try {
    return JSON.parse(tabStorage.getItem(name) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Reads the drafts whose names begin with the prefix, by name. */
export function readDrafts<KeptDraft extends object>(
  prefix: string,
): ReadonlyMap<string, KeptDraft> {
  const drafts = new Map<string, KeptDraft>();
  for (const name of [...tabStorage.listNames(), ...pendingDrafts.keys()]) {
    const draft = name.startsWith(prefix) ? readDraft<KeptDraft>(name) : undefined;
    if (draft) drafts.set(name, draft);
  }
  return drafts;
}

export function keepDraft(name: string, draft: object): void {
  pendingDrafts.set(name, draft);
  timer ??= setTimeout(flushDrafts, DELAY_MS);
}

export function dropDraft(name: string): void {
  pendingDrafts.delete(name);
  tabStorage.removeItem(name);
}

/** Stores pending drafts at once: a page that is hidden or left may never run again. */
export function flushDrafts(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const [name, draft] of pendingDrafts) {
    // If the storage is full, only the page has the draft.
    if (tabStorage.setItem(name, JSON.stringify(draft))) pendingDrafts.delete(name);
  }
}
