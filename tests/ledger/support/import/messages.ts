// Finds the messages in a folder's source files that name a command-line option.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const STRING_LITERAL = /`[^`]*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;

/** Leaves out strings that consist of an option alone, as in the option's declaration. */
export function listAdvice(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((file) => {
    const code = readFileSync(join(folder, file), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
    return [...code.matchAll(STRING_LITERAL)]
      .map(([quoted]) => quoted.slice(1, -1))
      .filter(
        (text) => /--[a-z]|\{getOptionName/.test(text) && !/^--[\w-]+(?: <\w+>)?$/.test(text),
      );
  });
}

/** Matches the text of a template with any values and any white space between its words. */
export function toPattern(template: string): RegExp {
  const parts = template
    .split(/\$\{[^}]*\}/)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/\s+/g, '\\s+'));
  return new RegExp(parts.join('.*'), 's');
}
