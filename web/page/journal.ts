// Keeps a page's writes on the device until they have a response, so that they outlive its tab: the next page of the same ledger
// takes them over. A page holds a lock while it is open, so that no other page takes its writes, not even a duplicate of its
// tab.
import { nameInLedger } from './kept-drafts.ts';
import type { deviceStorage, tabStorage } from './storage.ts';

/** The part of the browser's lock manager that is needed. */
export interface Locks {
  /** @param run gets null if another page holds the lock; the lock is held until the promise that `run` returns settles */
  readonly request: (
    name: string,
    options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    run: (lock: object | null) => unknown,
  ) => Promise<unknown>;
}

interface JournalPorts {
  readonly device: typeof deviceStorage;
  readonly tab: Pick<typeof tabStorage, 'getItem' | 'setItem'>;
  /** Undefined in a page served without HTTPS, which can neither write nor take over writes. */
  readonly locks: Locks | undefined;
}

const ENTRY_KIND = 'outbox';
/** Time that a browser may take to end the earlier page of a tab after starting the next page. */
const UNLOAD_MS = 1_000;

export type Journal = ReturnType<typeof createJournal>;

export function createJournal(ports: JournalPorts) {
  const { device, tab, locks } = ports;
  /** Name of this page's entry and of its lock. */
  let ownName: string | undefined;
  /** Entry of the earlier page of this tab; in a duplicated tab, of the page that was duplicated. */
  let earlierName: string | null = null;

  function claim(prefix: string, request: Locks['request']): string {
    const name = prefix + crypto.randomUUID();
    earlierName = tab.getItem(ENTRY_KIND);
    tab.setItem(ENTRY_KIND, name);
    void request(name, {}, () => new Promise(() => undefined)).catch(() => undefined);
    return name;
  }

  moveFromTab(ports);
  return {
    /** True if the device keeps writes of another page, which may still be open, or show another ledger. */
    hasOthers: () =>
      device.listNames().some((name) => name.startsWith(`${ENTRY_KIND} `) && name !== ownName),
    /** @returns false if the storage is full or denied, or the ledger is not known yet */
    save(writes: readonly object[]): boolean {
      if (ownName === undefined) return writes.length === 0;
      if (writes.length > 0) return device.setItem(ownName, JSON.stringify(writes));
      device.removeItem(ownName);
      return true;
    },
    /**
     * Takes over the writes of closed pages of this ledger.
     * @param take keeps the writes in this page's own entry
     */
    async takeOver(ledger: string, take: (text: string) => void): Promise<void> {
      if (!locks) return;
      const request = locks.request.bind(locks);
      const prefix = nameInLedger(ENTRY_KIND, ledger);
      ownName ??= claim(prefix, request);
      const awaitedName = earlierName;
      earlierName = null;
      const takeFrom = (name: string, lock: object | null) => {
        const text = lock && device.getItem(name);
        if (!text) return;
        device.removeItem(name);
        take(text);
      };
      const otherNames = device
        .listNames()
        .filter((name) => name.startsWith(prefix) && name !== ownName);
      await Promise.all(
        otherNames.map((name) => {
          const lockOptions =
            name === awaitedName
              ? { signal: AbortSignal.timeout(UNLOAD_MS) }
              : { ifAvailable: true };
          // A request that times out means that the page with the lock is still open.
          return request(name, lockOptions, (lock) => takeFrom(name, lock)).catch(() => undefined);
        }),
      );
    },
  };
}

/** Moves writes that a page of an earlier release kept in its tab to the device, where pages of their ledgers take them over. */
function moveFromTab({ device, tab, locks }: JournalPorts): void {
  const text = tab.getItem(ENTRY_KIND) ?? '';
  if (!locks || !text.startsWith('[')) return;
  const byLedger = Object.groupBy(readEarlierWrites(text), ({ ledger }) => ledger);
  for (const [ledger, writes] of Object.entries(byLedger))
    device.setItem(nameInLedger(ENTRY_KIND, ledger) + crypto.randomUUID(), JSON.stringify(writes));
  tab.setItem(ENTRY_KIND, '');
}

function readEarlierWrites(text: string): readonly { readonly ledger: string }[] {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}
