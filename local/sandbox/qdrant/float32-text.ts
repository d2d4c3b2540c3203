// The shortest decimal that reads back as the same 32-bit float: what Qdrant writes.

// Seven significant digits mostly do, nine always.
const DIGITS = [6, 7, 8, 9] as const;

export function float32Text(value: number): string {
  if (Number.isInteger(value)) return integerText(value);
  const size = Math.abs(value);
  if (size < 1e-5 || size >= 1e6) return byPrecision(value);
  const leading = Math.floor(Math.log10(size)) + 1;
  for (const digits of DIGITS) {
    const scale = 10 ** (digits - leading);
    const rounded = Math.round(value * scale) / scale;
    if (Math.fround(rounded) === value) return String(rounded);
  }
  return byPrecision(value);
}

export function float32Texts(values: Float32Array): string {
  let text = '[';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ',';
    text += float32Text(values[index] ?? 0);
  }
  return `${text}]`;
}

function integerText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  return Math.abs(value) < 1e16 ? `${value}.0` : byPrecision(value);
}

function byPrecision(value: number): string {
  for (const digits of DIGITS) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return String(rounded);
  }
  return String(value);
}
