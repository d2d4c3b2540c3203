// Replaces node:crypto in bundles, and loads that module at the first call: loading takes a sixth of the start of a function that
// hashes nothing, such as the one for unknown paths. Bundles use only the exports that are named here.
type Crypto = typeof import('node:crypto');

export const createHash: Crypto['createHash'] = (...args) => crypto().createHash(...args);
export const createHmac: Crypto['createHmac'] = (...args) => crypto().createHmac(...args);
export const getRandomValues: Crypto['getRandomValues'] = (array) =>
  crypto().getRandomValues(array);
export const hash = ((...args: Parameters<Crypto['hash']>) =>
  crypto().hash(...args)) as Crypto['hash'];
export const randomBytes = ((size: number) => crypto().randomBytes(size)) as Crypto['randomBytes'];
export const randomInt = ((min: number, max: number) =>
  crypto().randomInt(min, max)) as Crypto['randomInt'];
export const randomUUID: Crypto['randomUUID'] = (...args) => crypto().randomUUID(...args);

function crypto(): Crypto {
  return process.getBuiltinModule('node:crypto');
}
