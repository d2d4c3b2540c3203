// CloudWatch's metric math, as far as our alarms use it, at one point of time. A value that is undefined has no data
// point there.

export type Value = number | undefined;
type Values = readonly Value[];
type Evaluated = Value | Values;

const TOKEN = /\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|>=|<=|[-+*/<>(),])/y;

const OPERATORS: readonly Readonly<Record<string, (one: number, other: number) => number>>[] = [
  {
    '<': (one, other) => Number(one < other),
    '>': (one, other) => Number(one > other),
    '<=': (one, other) => Number(one <= other),
    '>=': (one, other) => Number(one >= other),
  },
  { '+': (one, other) => one + other, '-': (one, other) => one - other },
  { '*': (one, other) => one * other, '/': (one, other) => one / other },
];

const FUNCTIONS: Readonly<
  Record<string, (args: readonly Evaluated[], metrics: Values) => Evaluated>
> = {
  METRICS: (_, metrics) => metrics,
  FILL: ([value, filling]) => single(value) ?? single(filling),
  IF: ([condition, then, otherwise]) => {
    const holds = single(condition);
    return holds === undefined ? undefined : single(holds ? then : otherwise);
  },
  SUM: ([values]) => reduce(values, (present) => present.reduce((sum, value) => sum + value, 0)),
  MAX: ([values]) => reduce(values, (present) => Math.max(...present)),
};

/** @param metrics the values of `m1`, `m2` ... */
export function evaluate(expression: string, metrics: Values): Value {
  const tokens = tokensOf(expression);
  let next = 0;
  const take = (): string => tokens[next++] ?? '';
  const expect = (wanted: string) => {
    const token = take();
    if (token !== wanted) throw new Error(`"${expression}" has "${token}" in place of "${wanted}"`);
  };

  function parse(level = 0): Evaluated {
    const operators = OPERATORS[level];
    if (!operators) return atom();
    let result = parse(level + 1);
    for (let apply = operators[tokens[next] ?? '']; apply; apply = operators[tokens[next] ?? '']) {
      next += 1;
      const [one, other] = [single(result), single(parse(level + 1))];
      result = one === undefined || other === undefined ? undefined : apply(one, other);
    }
    return result;
  }

  function atom(): Evaluated {
    const token = take();
    if (token === '(') {
      const inner = parse();
      expect(')');
      return inner;
    }
    if (/^\d/.test(token)) return Number(token);
    if (/^m\d+$/.test(token)) return metrics[Number(token.slice(1)) - 1];
    const call = FUNCTIONS[token];
    if (!call) throw new Error(`No alarm of ours uses "${token}" of "${expression}"`);
    expect('(');
    const args: Evaluated[] = [];
    while (tokens[next] !== ')') {
      if (args.length > 0) expect(',');
      args.push(parse());
    }
    expect(')');
    return call(args, metrics);
  }

  const result = single(parse());
  if (next < tokens.length) throw new Error(`"${expression}" goes on after "${tokens[next - 1]}"`);
  return result;
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(expression); match; match = TOKEN.exec(expression)) {
    tokens.push(match[1] ?? '');
    if (TOKEN.lastIndex === expression.length) return tokens;
  }
  throw new Error(`"${expression}" is no metric math that is known here`);
}

function single(value: Evaluated): Value {
  if (typeof value === 'object') throw new Error('An array is no value of an alarm');
  return value;
}

function reduce(values: Evaluated, combine: (present: readonly number[]) => number): Value {
  const all = typeof values === 'object' ? values : [values];
  const present = all.filter((value) => value !== undefined);
  return present.length === 0 ? undefined : combine(present);
}
