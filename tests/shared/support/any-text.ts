// Generates any text that has a UTF-8 form.
import fc from 'fast-check';

const SURROGATES = 0x800;
const FIRST_SURROGATE = 0xd800;
const LAST_CHARACTER = 0x10ffff;

/** Any character. Fast-check's own unit `binary` takes a second to prepare, because it lists all of them. */
const character = fc
  .nat(LAST_CHARACTER - SURROGATES)
  .map((n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES), toNumber);

/** Reverses the mapping, so that fast-check can also try its dangerous texts, such as `__proto__`. */
function toNumber(text: unknown): number {
  const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
  if (code === undefined || text !== String.fromCodePoint(code) || !text.isWellFormed())
    throw new Error('Not a single character');
  return code < FIRST_SURROGATE ? code : code - SURROGATES;
}

export function anyText(limits: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...limits });
}
