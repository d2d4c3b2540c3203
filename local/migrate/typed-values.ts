// What was typed behind a command, by option: a value where one is wanted, each option once unless it may be repeated.
import { parseArgs } from 'node:util';
import { joinedValues } from '../joined-values.ts';
import { firstLine } from '../start-error.ts';
import { OPTIONS, type Option, type OptionName } from './options.ts';

/** The command line itself is wrong: nothing was asked of anybody. */
export class WrongUseError extends Error {
  override readonly name = 'WrongUseError';
}

export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

interface Taken {
  readonly command: string;
  readonly names: readonly OptionName[];
}

const LONGEST_QUOTE = 40;

/** @throws WrongUseError */
export function typedValues(words: readonly string[], taken: Taken): Values {
  const { names } = taken;
  const options = Object.fromEntries(
    names.map((name) => {
      const { type, multiple = false }: Option = OPTIONS[name];
      return [name, { type, multiple }];
    }),
  );
  try {
    const { values, tokens } = parseArgs({ args: joinedValues(words), options, tokens: true });
    const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    for (const name of names) assertOnce(name, given.filter((one) => one === name).length);
    return values as Values;
  } catch (error) {
    throw error instanceof WrongUseError ? error : wrongUse(error, taken);
  }
}

/** A whole number in the units of the option's field. @throws WrongUseError */
export function numberOf(name: string, text: string, times = 1): number {
  const most = Math.floor(Number.MAX_SAFE_INTEGER / times);
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= most) return number * times;
  throw new WrongUseError(`--${name} is a whole number from 0 to ${most}, not ${quoted(text)}.`);
}

export function quoted(text: string): string {
  return `"${text.slice(0, LONGEST_QUOTE)}${text.length > LONGEST_QUOTE ? '...' : ''}"`;
}

function assertOnce(name: OptionName, times: number): void {
  const { multiple = false }: Option = OPTIONS[name];
  if (times <= 1 || multiple) return;
  throw new WrongUseError(`--${name} is given ${times} times, and is taken once.`);
}

/** What the parser says of a value that is missing, or too much, is of no help. */
function wrongUse(cause: unknown, { command, names }: Taken): WrongUseError {
  const [said = ''] = firstLine(cause).split('. ');
  const { code } = cause as { code?: string };
  const isOthers = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION';
  const others = Object.keys(OPTIONS).find((one) => isOthers && isWhole(said, one));
  if (others) return new WrongUseError(`"${command}" takes no --${others}.`, { cause });
  const isOfValue = code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE';
  const name = isOfValue && names.find((one) => isWhole(said, one));
  if (!name) return new WrongUseError(`${said}.`, { cause });
  const { value }: Option = OPTIONS[name];
  const rule = value === undefined ? 'takes no value' : `needs a value: ${value}`;
  return new WrongUseError(`--${name} ${rule}.`, { cause });
}

/** One option's name may begin with another's. */
function isWhole(text: string, name: string): boolean {
  return new RegExp(`--${name}(?![\\w-])`).test(text);
}
