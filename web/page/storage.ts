// The storage of this tab and of this device. A browser may deny access to it: the page then works without, until it is closed.

export const tabStorage = open(() => sessionStorage);
export const deviceStorage = open(() => localStorage);

function open(find: () => Storage) {
  const attempt = <Result>(use: (storage: Storage) => Result, otherwise: Result): Result => {
    try {
      return use(find());
    } catch {
      return otherwise;
    }
  };
  return {
    getItem: (name: string) => attempt((storage) => storage.getItem(name), null),
    listNames: () =>
      attempt(
        (storage) => Array.from({ length: storage.length }, (_, n) => storage.key(n) ?? ''),
        [],
      ),
    removeItem: (name: string) => attempt((storage) => storage.removeItem(name), undefined),
    /** @returns false if the storage is full or denied */
    setItem: (name: string, text: string) =>
      attempt((storage) => {
        storage.setItem(name, text);
        return true;
      }, false),
  };
}
