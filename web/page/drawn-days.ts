// Draws only the days that fill the first screen, and the rest once the user scrolls or otherwise acts, because most of the time
// to show a list is spent on drawing rows.
import { signal } from '@preact/signals';

/** Pixels. Less than the height of any row, so that the days drawn first overflow the screen, and the page can be scrolled. */
const MIN_ROW_HEIGHT = 24;

/** Stays true after the first action: when the user goes back to an earlier list, its rows must be where they were. */
const areAllDaysDrawn = signal(false);

export function drawAllDays(): void {
  areAllDaysDrawn.value = true;
}

/** Draws all days when the user scrolls, resizes the window, or presses Control or Command, perhaps to search or print. */
export function watchActions(): void {
  addEventListener('scroll', drawAllDays);
  addEventListener('resize', drawAllDays);
  addEventListener('keydown', ({ ctrlKey, metaKey }) => {
    if (ctrlKey || metaKey) drawAllDays();
  });
}

/** Chooses whole days, because each day shows the sum of its rows. */
export function chooseDays<Day extends readonly [day: string, rows: readonly unknown[]]>(
  days: readonly Day[],
): readonly Day[] {
  if (areAllDaysDrawn.value) return days;
  let height = 0;
  return days.filter(([, rows]) => {
    const isOnScreen = height < innerHeight;
    height += rows.length * MIN_ROW_HEIGHT;
    return isOnScreen;
  });
}
