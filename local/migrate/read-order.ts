// What was typed, as an order: a command, its function's input, and how to speak.
import { type CommandName, commandNamed, isCommand } from './commands.ts';
import { OF_EVERY_COMMAND, OPTIONS, type Option, type OptionName } from './options.ts';
import { numberOf, quoted, typedValues, type Values, WrongUseError } from './typed-values.ts';

export interface Order {
  readonly name: CommandName;
  /** What the function is invoked with. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly isMeant: boolean;
  readonly yesRun: string | undefined;
  /** Of which functions; undefined for those in this process. */
  readonly stage: string | undefined;
}

/** @returns a command's help, or that of all, where help is asked for. @throws WrongUseError */
export function readOrder(words: readonly string[]): Order | { readonly helpOn?: CommandName } {
  const [name = '', ...rest] = words;
  const asksForHelp = name.startsWith('-') && words.includes('--help');
  if (words.length === 0 || asksForHelp || name === 'help') return {};
  if (!isCommand(name)) throw new WrongUseError(`There is no command ${quoted(name)}.`);
  const values = typedValues(rest, { command: name, names: optionsOf(name) });
  if (values.help) return { helpOn: name };
  const missing = commandNamed(name).needs.filter((option) => values[option] === undefined);
  if (missing.length > 0) {
    const named = missing.map((option) => `--${option}`).join(' and ');
    throw new WrongUseError(`"${name}" needs ${named}.`);
  }
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

function textOf(value: Values[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function stageOf({ stage }: Values): string | undefined {
  const name = textOf(stage);
  if (name === undefined || /^[a-zA-Z0-9-]{1,40}$/.test(name)) return name;
  throw new WrongUseError(`--stage is the name of a stage, such as prod, not ${quoted(name)}.`);
}

function payloadOf(values: Values): Record<string, unknown> {
  const payload: Record<string, unknown> = {};
  for (const [option, { field, isNumber, times = 1 }] of Object.entries<Option>(OPTIONS)) {
    const value = values[option];
    if (field === undefined || value === undefined) continue;
    payload[field] = isNumber ? numberOf(option, String(value), times) : value;
  }
  return payload;
}
