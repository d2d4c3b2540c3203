// Injected faults: a fault affects the requests that it matches, before or after they are carried out.

export interface Fault {
  /** Matches requests such as `PUT /collections/memories/points`; without a pattern, every request is affected. */
  readonly on?: RegExp;
  /** With `after`, the work is done and only the answer is lost; `before` by default. */
  readonly when?: 'before' | 'after';
  /** Number of requests that it affects; one by default. */
  readonly times?: number;
  readonly effect: Failure;
}

export type Failure =
  /** The connection breaks without an answer. */
  | { readonly kind: 'drop' }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export function createFaults() {
  let rules: { fault: Fault; left: number }[] = [];

  function add(fault: Fault): void {
    rules.push({ fault, left: fault.times ?? 1 });
  }

  function take(request: string, when: 'before' | 'after'): Failure | undefined {
    const rule = rules.find(
      ({ fault }) => (fault.when ?? 'before') === when && (fault.on?.test(request) ?? true),
    );
    if (!rule) return undefined;
    rule.left -= 1;
    rules = rules.filter(({ left }) => left > 0);
    return rule.fault.effect;
  }

  return { add, take };
}
