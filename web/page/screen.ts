// Detects a phone by the width of its screen. page.css uses the same limit.
import { signal } from '@preact/signals';

const NARROW = matchMedia('(max-width: 719px)');

export const isPhone = signal(NARROW.matches);

export function watchScreen(): void {
  NARROW.addEventListener('change', ({ matches }) => {
    isPhone.value = matches;
  });
}
