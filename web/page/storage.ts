// The storage of this tab and of this device. A browser may deny access to it: the page then works without storage, until it is
// closed.

export const tabStorage = openStorage(() => sessionStorage);
export const deviceStorage = openStorage(() => localStorage);

function openStorage(find: () => Storage) {
  const tryStorage = <Result>(use: (storage: Storage) => Result, fallback: Result): Result => {
    try {
      return use(find());
    } catch {
      return fallback;
    }
  };
  return {
    getItem: (name: string) => tryStorage((storage) => storage.getItem(name), null),
    listNames: () =>
      tryStorage(
        (storage) => Array.from({ length: storage.length }, (_, n) => storage.key(n) ?? ''),
        [],
      ),
    removeItem: (name: string) => tryStorage((storage) => storage.removeItem(name), undefined),
    /** @returns false if the storage is full or denied */
    setItem: (name: string, text: string) =>
      tryStorage((storage) => {
        storage.setItem(name, text);
        return true;
      }, false),
  };
}
