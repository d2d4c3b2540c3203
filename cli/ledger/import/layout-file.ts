// The file that stores, for each ledger, the options that read files of each layout.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LayoutOptions, Layouts } from '../../../lib/ledger/import/layouts.ts';
import { UserError } from '../../../lib/shared/user-error.ts';

export const LAYOUT_FILE = join(
  process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'),
  'finance-ledger',
  'import-layouts.json',
);

type LayoutsByLedger = Readonly<Record<string, Layouts>>;

export interface LayoutFile {
  readonly isEmpty: boolean;
  readonly read: (ledger: string) => Layouts;
  /** @param options undefined to forget the layout */
  readonly write: (ledger: string, key: string, options: LayoutOptions | undefined) => void;
}

/** @throws UserError if the file is damaged */
export function openLayoutFile(path: string): LayoutFile {
  const layoutsByLedger = readAll(path);
  return {
    isEmpty: Object.keys(layoutsByLedger).length === 0,
    read: (ledger) => layoutsByLedger[ledger] ?? {},
    write: (ledger, key, options) => {
      const { [key]: _, ...otherLayouts } = layoutsByLedger[ledger] ?? {};
      const layouts = options === undefined ? otherLayouts : { ...otherLayouts, [key]: options };
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(
        path,
        `${JSON.stringify({ ...layoutsByLedger, [ledger]: layouts }, undefined, 2)}\n`,
      );
    },
  };
}

function readAll(path: string): LayoutsByLedger {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    return JSON.parse(text) as LayoutsByLedger;
  } catch (cause) {
    throw new UserError(
      `The file of remembered layouts, ${path}, is not JSON. Delete it, or name another with --layouts FILE.`,
      { cause },
    );
  }
}
