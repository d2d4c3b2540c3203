// MurmurHash3 for x86, 32 bits, seed 0, which turns terms into indices of a sparse vector.

const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;

export function murmur3(text: string): number {
  const bytes = Buffer.from(text);
  const whole = bytes.length - (bytes.length % 4);
  let hash = 0;
  for (let offset = 0; offset < whole; offset += 4) {
    hash ^= scramble(bytes.readUInt32LE(offset));
    hash = (Math.imul(rotate(hash, 13), 5) + 0xe6546b64) | 0;
  }
  if (whole < bytes.length) hash ^= scramble(bytes.readUIntLE(whole, bytes.length - whole));
  return finish(hash ^ bytes.length);
}

function scramble(block: number): number {
  return Math.imul(rotate(Math.imul(block, C1), 15), C2);
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function finish(mixed: number): number {
  let hash = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
