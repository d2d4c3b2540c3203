// Chooses colors for categories that stand out from the background in both the light and the dark scheme.

/**
 * Blue, orange, green, magenta, sky, brown, yellow and grey. In each scheme their lightness differs enough for people with any form
 * of color blindness to tell them apart. One palette adjusted to both backgrounds would lose this: enough contrast with a white card
 * makes all colors equally dark.
 */
const LIGHT = [
  ...['#2300cb', '#9d6c2c', '#0f654a', '#c530c4', '#1570a3', '#580301', '#374d00', '#757575'],
] as const;
const DARK = [
  ...['#5888fe', '#e29311', '#92f3e1', '#e03bb5', '#4cc0ff', '#ac774a', '#d7ee77', '#ababab'],
] as const;

const MIN_CONTRAST = 4.5;
const STEPS = 20;

type Rgb = readonly [red: number, green: number, blue: number];

/**
 * Returns the category's own color, darkened or lightened until its contrast with the background reaches 4.5 to 1; without one, a
 * color of the palette, which has that contrast.
 */
export function colorOf(ownColor: string | null | undefined, position: number, background: string) {
  const backgroundColor = parseHex(background);
  const isLightBackground = measureLuminance(backgroundColor) > 0.5;
  const palette = isLightBackground ? LIGHT : DARK;
  if (!ownColor) return palette[position % palette.length] ?? palette[0];
  const color = parseHex(ownColor);
  const target: Rgb = isLightBackground ? [0, 0, 0] : [255, 255, 255];
  for (let step = 0; step <= STEPS; step++) {
    const mixedColor = mix(color, target, step / STEPS);
    if (contrastOf(formatHex(mixedColor), background) >= MIN_CONTRAST) return formatHex(mixedColor);
  }
  return formatHex(target);
}

export function contrastOf(first: string, second: string): number {
  return measureContrast(parseHex(first), parseHex(second));
}

function measureContrast(first: Rgb, second: Rgb): number {
  const [light = 0, dark = 0] = [measureLuminance(first), measureLuminance(second)].toSorted(
    (a, b) => b - a,
  );
  return (light + 0.05) / (dark + 0.05);
}

/** Relative luminance as WCAG 2.2 defines it. */
function measureLuminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const mixChannel = (n: 0 | 1 | 2) => Math.round(from[n] + (to[n] - from[n]) * share);
  return [mixChannel(0), mixChannel(1), mixChannel(2)];
}

/** `#RGB`, `#RGBA`, `#RRGGBB` or `#RRGGBBAA`; transparency is ignored. */
function parseHex(color: string): Rgb {
  const digits = color.slice(1);
  const longForm = digits.length < 6 ? [...digits].map((digit) => digit + digit).join('') : digits;
  const readChannel = (start: number) => Number.parseInt(longForm.slice(start, start + 2), 16) || 0;
  return [readChannel(0), readChannel(2), readChannel(4)];
}

function formatHex(color: Rgb): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
