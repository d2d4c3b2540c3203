// Writes a 32-bit float as the shortest decimal that reads back as the same float, like Qdrant.

// Numbers of significant digits to try: nine always suffice to read back the same float, fewer may not.
const DIGITS = [6, 7, 8, 9] as const;

const POWERS_OF_TEN = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);
const ZEROS = ['0.', '0.0', '0.00', '0.000', '0.0000'];
const MIN_FRACTION = 1e-5;

export function formatFloat32(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude < 1 && magnitude >= MIN_FRACTION) return formatFraction(value, magnitude);
  return Number.isInteger(value) ? formatInteger(value) : formatByPrecision(value);
}

export function formatFloat32List(values: Float32Array): string {
  let text = '[';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ',';
    text += formatFloat32(values[index] ?? 0);
  }
  return `${text}]`;
}

// Fast path for the millions of components of unit vectors: writing a whole number is several times faster than writing a
// fraction.
function formatFraction(value: number, magnitude: number): string {
  const zeros = countZerosAfterPoint(magnitude);
  for (const digits of DIGITS) {
    const scale = POWERS_OF_TEN[digits + zeros] ?? 1;
    let mantissa = Math.round(magnitude * scale);
    if (Math.fround(mantissa / scale) !== magnitude) continue;
    while (mantissa % 10 === 0) mantissa /= 10;
    const text = ZEROS[zeros] + String(mantissa);
    return value < 0 ? `-${text}` : text;
  }
  return formatByPrecision(value);
}

function countZerosAfterPoint(magnitude: number): number {
  if (magnitude >= 0.1) return 0;
  if (magnitude >= 0.01) return 1;
  if (magnitude >= 0.001) return 2;
  return magnitude >= 0.0001 ? 3 : 4;
}

function formatInteger(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  return Math.abs(value) < 1e16 ? `${value}.0` : formatByPrecision(value);
}

function formatByPrecision(value: number): string {
  // JSON has no infinity and no NaN.
  if (!Number.isFinite(value)) return 'null';
  for (const digits of DIGITS) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return String(rounded);
  }
  return String(value);
}
