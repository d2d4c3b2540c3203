// What was typed, as an order: a command, its function's input, and how to speak.
import { parseArgs } from 'node:util';
import { firstLine } from '../start-error.ts';
import { type CommandName, commandNamed, isCommand } from './commands.ts';
import { OF_EVERY_COMMAND, OPTIONS, type Option, type OptionName } from './options.ts';

export interface Order {
  readonly name: CommandName;
  /** What the function is invoked with. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly isMeant: boolean;
  readonly yesRun: string | undefined;
  /** Of which functions; undefined for those in this process. */
  readonly stage: string | undefined;
}

/** The command line itself is wrong: nothing was asked of anybody. */
export class WrongUseError extends Error {
  override readonly name = 'WrongUseError';
}

type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** @returns a command's help, or that of all, where help is asked for. @throws WrongUseError */
export function readOrder(words: readonly string[]): Order | { readonly helpOn?: CommandName } {
  const [name = '--help', ...rest] = words;
  if (name === '--help' || name === 'help') return {};
  if (!isCommand(name)) throw new WrongUseError(`There is no command "${name}".`);
  const values = valuesOf(name, rest);
  if (values.help) return { helpOn: name };
  const missing = commandNamed(name).needs.find((option) => values[option] === undefined);
  if (missing) throw new WrongUseError(`"${name}" needs --${missing}.`);
  return {
    name,
    payload: payloadOf(values),
    isMeant: values.execute === true,
    yesRun: textOf(values['yes-run']),
    stage: stageOf(values),
  };
}

export function optionsOf(name: CommandName): readonly OptionName[] {
  const { needs, takes } = commandNamed(name);
  return [...needs, ...takes, ...OF_EVERY_COMMAND];
}

function valuesOf(name: CommandName, args: readonly string[]): Values {
  const options = Object.fromEntries(
    optionsOf(name).map((option) => {
      const { type, multiple = false }: Option = OPTIONS[option];
      return [option, { type, multiple }];
    }),
  );
  try {
    return parseArgs({ args: [...args], options }).values as Values;
  } catch (error) {
    throw new WrongUseError(firstLine(error), { cause: error });
  }
}

function textOf(value: Values[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function stageOf({ stage }: Values): string | undefined {
  const name = textOf(stage);
  if (name === undefined || /^[a-zA-Z0-9-]{1,40}$/.test(name)) return name;
  throw new WrongUseError(`--stage is the name of a stage, such as prod, not "${name}".`);
}

function payloadOf(values: Values): Record<string, unknown> {
  const payload: Record<string, unknown> = {};
  for (const [option, { field, isNumber, times = 1 }] of Object.entries<Option>(OPTIONS)) {
    const value = values[option];
    if (field === undefined || value === undefined) continue;
    payload[field] = isNumber ? numberOf(option, String(value)) * times : value;
  }
  return payload;
}

function numberOf(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new WrongUseError(`--${option} is a whole number, not "${text}".`);
}
