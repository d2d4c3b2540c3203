// What a field may be, in words: as its schema says it, or as its kind has it.
import * as v from 'valibot';

interface Described {
  readonly type: string;
  /** Of what may be left out. */
  readonly wrapped?: Described;
  /** Of a choice. */
  readonly options?: readonly string[];
  /** Of a list. */
  readonly item?: Described;
}

const KINDS: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  number: 'a number',
  strict_object: 'an object with named fields',
};

/** To stand behind "it has to be"; undefined where there is nothing to say. */
export function ruleOf(schema: Described): string | undefined {
  const { type, wrapped, options, item } = schema;
  const said = v.getDescription(schema as Parameters<typeof v.getDescription>[0]);
  if (said !== undefined) return said;
  if (wrapped) return ruleOf(wrapped);
  if (options) return `one of ${options.join(', ')}`;
  if (item?.options) return `a list of any of ${item.options.join(', ')}`;
  return KINDS[type];
}
