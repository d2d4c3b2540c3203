// Injects faults. A fault affects the requests that it matches, before or after they are carried out.

export interface Fault {
  /** Matches requests such as `PUT /collections/memories/points`; without a pattern, every request is affected. */
  readonly on?: RegExp;
  /** With `after`, the request is carried out and only its response is lost; `before` by default. */
  readonly when?: 'before' | 'after';
  /** Number of requests that the fault affects; one by default. */
  readonly times?: number;
  readonly effect: Effect;
}

export type Effect =
  /** The connection breaks without a response. */
  | { readonly kind: 'drop' }
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export function createFaults() {
  let rules: { fault: Fault; remaining: number }[] = [];

  function add(fault: Fault): void {
    rules.push({ fault, remaining: fault.times ?? 1 });
  }

  function consumeEffect(request: string, when: 'before' | 'after'): Effect | undefined {
    const rule = rules.find(
      ({ fault }) => (fault.when ?? 'before') === when && (fault.on?.test(request) ?? true),
    );
    if (!rule) return undefined;
    rule.remaining -= 1;
    rules = rules.filter(({ remaining }) => remaining > 0);
    return rule.fault.effect;
  }

  return { add, consumeEffect };
}
