// Shows one progress bar at a time. Without a terminal, prints a line every few seconds.
import { SingleBar } from 'cli-progress';

export interface Progress {
  start(title: string, steps: number): void;
  step(steps?: number): void;
  done(): void;
}

export function createProgress(): Progress {
  let bar: SingleBar | undefined;

  function done(): void {
    bar?.stop();
    bar = undefined;
  }

  return {
    start(title, steps) {
      done();
      const format = `${title.padEnd(44)} {bar} {percentage}% {duration_formatted}`;
      bar = new SingleBar({ format, noTTYOutput: true, notTTYSchedule: 5_000, hideCursor: true });
      bar.start(steps, 0);
    },
    step(steps = 1) {
      bar?.increment(steps);
    },
    done,
  };
}
