// Recognises a phone by the width below which page.css rearranges the page.
import { signal } from '@preact/signals';

const NARROW = matchMedia('(max-width: 719px)');

export const isPhone = signal(NARROW.matches);

export function watchScreen(): void {
  NARROW.addEventListener('change', ({ matches }) => {
    isPhone.value = matches;
  });
}
