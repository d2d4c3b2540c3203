// Rules that the user writes, one per line, such as `rewe = Groceries` or `/^amazon (?!prime)/ = Household`. The first rule
// that matches a description assigns its category.

export interface CategoryRule {
  readonly line: number;
  /** Source text of the rule's pattern. */
  readonly pattern: string;
  readonly category: string;
  readonly matches: (description: string) => boolean;
}

const EXPRESSION = /^\/(.+)\/$/;

/**
 * Skips empty lines and those that begin with `#`.
 * @throws Error that names the line
 */
export function parseCategoryRules(text: string): readonly CategoryRule[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .flatMap((lineText, n) => {
      const rule = lineText.trim();
      return rule === '' || rule.startsWith('#') ? [] : parseRule(rule, n + 1);
    });
}

function parseRule(rule: string, line: number): CategoryRule {
  // The last "=" is the separator: an expression may contain one, a category does not.
  const separatorIndex = rule.lastIndexOf('=');
  const pattern = rule.slice(0, Math.max(separatorIndex, 0)).trim();
  const category = rule.slice(separatorIndex + 1).trim();
  if (pattern === '' || category === '')
    throw new Error(
      `Line ${line} of the rules is not a rule: "${rule}". Write text = Category, or /expression/ = Category.`,
    );
  return { line, pattern, category, matches: createMatcher(pattern, line) };
}

function createMatcher(pattern: string, line: number): CategoryRule['matches'] {
  const [, source] = EXPRESSION.exec(pattern) ?? [];
  if (source === undefined) {
    const text = pattern.toLowerCase();
    return (description) => description.toLowerCase().includes(text);
  }
  try {
    const expression = new RegExp(source, 'iu');
    return (description) => expression.test(description);
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`Line ${line} of the rules has an invalid expression: ${message}.`, {
      cause,
    });
  }
}

export function findRule(
  rules: readonly CategoryRule[],
  description: string,
): CategoryRule | undefined {
  return rules.find(({ matches }) => matches(description));
}
