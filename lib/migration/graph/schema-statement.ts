// Rebuilds the statements of a dump's schema. Another program may have changed the file, so its statements are never run as they
// are: they are parsed by Neo4j's grammar of constraints and indexes, and rebuilt from the parsed parts.
import { Refusal } from '../refusals.ts';
import type { SchemaRule } from './graph-store.ts';

const INDEX_KINDS = ['RANGE', 'TEXT', 'POINT', 'LOOKUP', 'FULLTEXT', 'VECTOR'];
const PREDICATES = ['UNIQUE', 'NODE KEY', 'RELATIONSHIP KEY', 'NOT NULL'];
const TYPE_NAMES = new Set(
  'ANY BOOLEAN STRING INTEGER INTEGER8 INTEGER16 INTEGER32 FLOAT FLOAT32 DATE LOCAL ZONED TIME DATETIME DURATION POINT LIST VECTOR NOT NULL'.split(
    ' ',
  ),
);
/** Maximum nesting of options; Neo4j itself writes two levels. */
const MAX_DEPTH = 4;

const TOKEN =
  /\s*(`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\w+|::|[^\s])/gsuy;
const NAME = /^`(?:[^`\\]|``)+`$/su;

/**
 * @returns the same statement, rebuilt from its parsed parts
 * @throws Refusal for a form that Neo4j does not write
 */
export function rebuildStatement(statement: string): string {
  const reader = createReader(statement);
  reader.take('CREATE');
  const rebuilt = reader.takeIfNext('CONSTRAINT') ? readConstraint(reader) : readIndex(reader);
  reader.assertEnd();
  return `CREATE ${rebuilt}`;
}

/** @throws Refusal, as above */
export function rebuildRules(rules: readonly SchemaRule[]): SchemaRule[] {
  return rules.map((rule) => ({ ...rule, statement: rebuildStatement(rule.statement) }));
}

function readConstraint(reader: Reader): string {
  const head = `CONSTRAINT ${reader.takeName()} FOR ${readPattern(reader)} REQUIRE`;
  reader.take('REQUIRE');
  const properties = readProperties(reader, '(', ')');
  reader.take('IS');
  const predicate = reader.takeIfNext('::')
    ? `:: ${readType(reader)}`
    : reader.takeOneOf(PREDICATES);
  return `${head} ${properties} IS ${predicate}${readOptions(reader)}`;
}

function readIndex(reader: Reader): string {
  const kind = reader.takeOneOf(INDEX_KINDS);
  reader.take('INDEX');
  const head = `${kind} INDEX ${reader.takeName()} FOR ${readPattern(reader)} ON`;
  reader.take('ON');
  if (!reader.takeIfNext('EACH')) {
    return `${head} ${readProperties(reader, '(', ')')}${readOptions(reader)}`;
  }
  const target = kind === 'LOOKUP' ? readLookup(reader) : readProperties(reader, '[', ']');
  return `${head} EACH ${target}${readOptions(reader)}`;
}

/** Reads `(n:`label`)` or `()-[r:`type`]-()`; a full-text index can have several labels or types. */
function readPattern(reader: Reader): string {
  reader.take('FOR', '(');
  const isNode = reader.takeIfNext('n');
  if (!isNode) reader.take(')', '-', '[', 'r');
  const variable = isNode ? 'n' : 'r';
  reader.variable = variable;
  const names = reader.takeIfNext(':') ? `:${reader.takeList('|', reader.takeName)}` : '';
  reader.take(...(isNode ? [')'] : [']', '-', '(', ')']));
  return isNode ? `(n${names})` : `()-[r${names}]-()`;
}

function readProperties(reader: Reader, open: string, close: string): string {
  reader.take(open);
  const properties = reader.takeList(', ', () => {
    reader.take(reader.variable, '.');
    return `${reader.variable}.${reader.takeName()}`;
  });
  reader.take(close);
  return `${open}${properties}${close}`;
}

function readLookup(reader: Reader): string {
  const functionName = reader.variable === 'n' ? 'labels' : 'type';
  reader.take(functionName, '(', reader.variable, ')');
  return `${functionName}(${reader.variable})`;
}

/** Reads types such as `LIST<STRING NOT NULL> | INTEGER` or `VECTOR<FLOAT32>(768)`. */
function readType(reader: Reader): string {
  let type = '';
  for (;;) {
    const token = reader.peek();
    if (token === undefined || token === 'OPTIONS') break;
    if (!TYPE_NAMES.has(token) && !/^([<>()|]|\d{1,5})$/.test(token)) throw reader.createRefusal();
    type += /^[<>()\d]/.test(token) || type === '' || /[<(]$/.test(type) ? token : ` ${token}`;
    reader.skip();
  }
  if (type === '') throw reader.createRefusal();
  return type;
}

function readOptions(reader: Reader): string {
  return reader.takeIfNext('OPTIONS') ? ` OPTIONS ${readMap(reader, 0)}` : '';
}

function readMap(reader: Reader, depth: number): string {
  if (depth > MAX_DEPTH) throw reader.createRefusal();
  reader.take('{');
  if (reader.takeIfNext('}')) return '{}';
  const entries = reader.takeList(', ', () => {
    const key = reader.takeKey();
    reader.take(':');
    return `${key}: ${readValue(reader, depth + 1)}`;
  });
  reader.take('}');
  return `{${entries}}`;
}

function readValue(reader: Reader, depth: number): string {
  if (reader.peek() === '{') return readMap(reader, depth);
  if (!reader.takeIfNext('[')) return reader.takeLiteral();
  const values = reader.takeList(', ', reader.takeLiteral);
  reader.take(']');
  return `[${values}]`;
}

type Reader = ReturnType<typeof createReader>;

function createReader(statement: string) {
  const tokens = [...statement.matchAll(TOKEN)].map(([, token = '']) => token);
  let position = 0;

  function createRefusal(): Refusal {
    const offendingToken = tokens[position] === undefined ? 'its end' : `"${tokens[position]}"`;
    return new Refusal(
      'RefusedSnapshot',
      `The schema of the dump has a statement that Neo4j does not write for a constraint or an index, from ${offendingToken} on: ${statement.slice(0, 200)}`,
    );
  }

  function takeLike(pattern: RegExp): string {
    const token = tokens[position];
    if (token === undefined || !pattern.test(token)) throw createRefusal();
    position += 1;
    return token;
  }

  function takeIfNext(expected: string): boolean {
    if (tokens[position] !== expected) return false;
    position += 1;
    return true;
  }

  return {
    createRefusal,
    takeIfNext,
    /** Variable of the parsed pattern */
    variable: '',
    peek: (): string | undefined => tokens[position],
    skip(): void {
      position += 1;
    },
    take(...expectedTokens: readonly string[]): void {
      for (const token of expectedTokens) if (!takeIfNext(token)) throw createRefusal();
    },
    // Names with a backslash are refused: it may begin an encoded character, such as a backtick.
    takeName: () => takeLike(NAME),
    takeKey: () => takeLike(/^(`[\w.-]+`|[A-Za-z]\w*)$/),
    takeLiteral: () => takeLike(/^('.*'|-?\d[\d.eE+-]*|true|false|null)$/su),
    /** Takes one of several choices, each of one or more words. */
    takeOneOf(choices: readonly string[]): string {
      const chosen = choices.find((choice) =>
        choice.split(' ').every((word, index) => tokens[position + index] === word),
      );
      if (chosen === undefined) throw createRefusal();
      position += chosen.split(' ').length;
      return chosen;
    },
    takeList(separator: string, read: () => string): string {
      const items = [read()];
      while (takeIfNext(separator.trim())) items.push(read());
      return items.join(separator);
    },
    assertEnd(): void {
      if (position < tokens.length) throw createRefusal();
    },
  };
}
