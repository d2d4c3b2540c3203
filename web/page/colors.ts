// Chooses colors for categories that stand out from the background in both the light and the dark scheme.

/** Okabe and Ito's palette, with grey instead of black: people with any form of color blindness can tell the colors apart. */
const PALETTE = [
  ...['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#7f7f7f'],
] as const;

const MIN_CONTRAST = 4.5;
const STEPS = 20;

type Rgb = readonly [red: number, green: number, blue: number];

/**
 * Returns the category's own color, or one from the palette, darkened or lightened until its contrast with the background
 * reaches 4.5 to 1.
 */
export function colorOf(own: string | null | undefined, position: number, background: string) {
  const chosen = own || (PALETTE[position % PALETTE.length] ?? PALETTE[0]);
  const color = parse(chosen);
  const target: Rgb = luminance(parse(background)) > 0.5 ? [0, 0, 0] : [255, 255, 255];
  for (let step = 0; step <= STEPS; step++) {
    const mixed = mix(color, target, step / STEPS);
    if (contrastOf(write(mixed), background) >= MIN_CONTRAST) return write(mixed);
  }
  return write(target);
}

export function contrastOf(first: string, second: string): number {
  return contrast(parse(first), parse(second));
}

function contrast(first: Rgb, second: Rgb): number {
  const [light = 0, dark = 0] = [luminance(first), luminance(second)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** Relative luminance as WCAG 2.2 defines it. */
function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(from: Rgb, to: Rgb, part: number): Rgb {
  const channel = (n: 0 | 1 | 2) => Math.round(from[n] + (to[n] - from[n]) * part);
  return [channel(0), channel(1), channel(2)];
}

/** `#RGB`, `#RGBA`, `#RRGGBB` or `#RRGGBBAA`; transparency is ignored. */
function parse(color: string): Rgb {
  const digits = color.slice(1);
  const wide = digits.length < 6 ? [...digits].map((digit) => digit + digit).join('') : digits;
  const channel = (start: number) => Number.parseInt(wide.slice(start, start + 2), 16) || 0;
  return [channel(0), channel(2), channel(4)];
}

function write(color: Rgb): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
