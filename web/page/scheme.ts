// Chooses the color of a category for the browser's scheme, light or dark.
import { signal } from '@preact/signals';
import { colorOf } from './colors.ts';

/** Backgrounds of cards; must equal those in page.css. */
const BACKGROUNDS = { light: '#ffffff', dark: '#171a21' } as const;
const isDark = signal(false);
const chosenColors = new Map<string, string>();

/** Follows the scheme of the browser. */
export function watchScheme(): void {
  const query = matchMedia('(prefers-color-scheme: dark)');
  isDark.value = query.matches;
  query.addEventListener('change', () => {
    isDark.value = query.matches;
  });
}

/**
 * Returns the category's own color, or a palette color chosen by its id, adjusted to be visible on a card in the current
 * scheme.
 */
export function categoryColor({
  id,
  color,
}: {
  readonly id: number;
  readonly color: string | null;
}): string {
  const background = BACKGROUNDS[isDark.value ? 'dark' : 'light'];
  const key = `${color ?? id} ${background}`;
  const chosenColor = chosenColors.get(key) ?? colorOf(color, id, background);
  chosenColors.set(key, chosenColor);
  return chosenColor;
}
