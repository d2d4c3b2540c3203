// Tells a phone by its width: below this one, page.css rearranges the page.
import { signal } from '@preact/signals';

const NARROW = matchMedia('(max-width: 719px)');

export const isPhone = signal(NARROW.matches);

export function watchScreen(): void {
  NARROW.addEventListener('change', ({ matches }) => {
    isPhone.value = matches;
  });
}
