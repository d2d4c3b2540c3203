// Tells a phone by the width at which page.css rearranges it.
import { signal } from '@preact/signals';

const NARROW = matchMedia('(max-width: 719px)');

export const isPhone = signal(NARROW.matches);

export function watchScreen(): void {
  NARROW.addEventListener('change', ({ matches }) => {
    isPhone.value = matches;
  });
}
