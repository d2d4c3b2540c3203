// Draws only the days of the first screen, and the rest once a person scrolls or otherwise acts: drawing rows takes most of the
// time of a view.
import { signal } from '@preact/signals';

/** Less than the height of any row, so that the days drawn first are taller than the screen, and the page can be scrolled. */
const MIN_ROW_HEIGHT = 24;

/** Stays true after the first action, so that Back finds the rows of an earlier list where they were. */
const areAllDaysDrawn = signal(false);

export function drawAllDays(): void {
  areAllDaysDrawn.value = true;
}

/** Draws all days when a person scrolls, enlarges the window, or presses Control or Command: the browser may search or print. */
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
