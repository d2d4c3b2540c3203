// Records the events of an act with their times, and the expectations that did not hold.

export interface TimelineEntry {
  readonly minutes: number;
  readonly event: string;
}

export interface Diary {
  readonly timeline: readonly TimelineEntry[];
  /** Expectations that did not hold. */
  readonly surprises: readonly string[];
  note(event: string): void;
  expect(expectation: string, isMet: boolean): void;
}

export function createDiary(minutes: () => number): Diary {
  const timeline: TimelineEntry[] = [];
  const surprises: string[] = [];

  function note(event: string): void {
    timeline.push({ minutes: minutes(), event });
  }

  return {
    timeline,
    surprises,
    note,
    expect(expectation, isMet) {
      note(isMet ? expectation : `NOT: ${expectation}`);
      if (!isMet) surprises.push(expectation);
    },
  };
}
