// What looks like an option to the parser, such as -5, is a value all the same where it stands behind an option.

/** Words as typed, for `parseArgs`: `--n -5` becomes `--n=-5`, of which the option's own rule speaks. */
export function joinedValues(words: readonly string[]): string[] {
  return words.flatMap((word, n) => {
    if (isNegative(word) && isOption(words[n - 1])) return [];
    const next = words[n + 1];
    return isOption(word) && isNegative(next) ? [`${word}=${next}`] : [word];
  });
}

function isOption(word: string | undefined): boolean {
  return word !== undefined && /^--[^=]+$/.test(word);
}

function isNegative(word: string | undefined): boolean {
  return word !== undefined && /^-[\d.]/.test(word);
}
