// Draws a list of days only as far as the first screen reaches, and the rest once a person goes on to it: rows are the largest
// part of the script of a view.
import { signal } from '@preact/signals';

/** Lower than any row, so that the days drawn first are taller than the screen, and the page can be scrolled. */
const MIN_ROW_HEIGHT = 24;

/** True from the first move on, so that going back to an earlier list finds its rows where they were. */
const isWhole = signal(false);

export function drawAllDays(): void {
  isWhole.value = true;
}

/** Draws all days when a person scrolls, enlarges the window, or presses Control or Command: the browser may search or print. */
export function watchMoves(): void {
  addEventListener('scroll', drawAllDays);
  addEventListener('resize', drawAllDays);
  addEventListener('keydown', ({ ctrlKey, metaKey }) => {
    if (ctrlKey || metaKey) drawAllDays();
  });
}

/** Chooses whole days, because a day has the sum of its rows. */
export function chooseDays<Day extends readonly [day: string, rows: readonly unknown[]]>(
  days: readonly Day[],
): readonly Day[] {
  if (isWhole.value) return days;
  let height = 0;
  return days.filter(([, rows]) => {
    const isReached = height < innerHeight;
    height += rows.length * MIN_ROW_HEIGHT;
    return isReached;
  });
}
