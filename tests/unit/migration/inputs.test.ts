// What the functions take, what the guide says of it and what the command line fills: one and the same.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GATES } from '../../../lib/migration/phases.ts';
import { stepInputSchema } from '../../../lib/migration/runs/step-input.ts';
import { approveInputSchema } from '../../../lib/migration/steps/approve.ts';
import { startInputSchema } from '../../../lib/migration/steps/start.ts';
import { statusInputSchema } from '../../../lib/migration/steps/status.ts';
import { ACTS, COMMANDS, commandNamed, isCommand } from '../../../local/migrate/commands.ts';
import { OPTIONS, type Option } from '../../../local/migrate/options.ts';
import { optionsOf } from '../../../local/migrate/read-order.ts';
import { helpOn } from '../../../local/migrate/telling.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../../docs/migration.md'), 'utf8');
const OWN = { start: startInputSchema, approve: approveInputSchema, status: statusInputSchema };
const SCHEMAS = [...Object.values(OWN), stepInputSchema];
const NAMES = Object.keys(COMMANDS).filter(isCommand);

interface Field {
  readonly type: string;
  readonly default?: unknown;
}

const FIELDS: ReadonlyMap<string, Field> = new Map(
  SCHEMAS.flatMap(({ entries }) => Object.entries<Field>(entries)),
);

function fieldsOf(name: (typeof NAMES)[number]): string[] {
  const { entries } = name in OWN ? OWN[name as keyof typeof OWN] : stepInputSchema;
  return Object.keys(entries);
}

describe('the table of inputs in the guide', () => {
  const section = GUIDE.split('### What the functions are given')[1]?.split('\n###')[0] ?? '';
  const rows = new Map(
    [...section.matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm)].map(([, name = '', last]) => [
      name,
      last,
    ]),
  );

  it('has a row for every field that is read, and for no other', () => {
    expect([...rows.keys()].toSorted()).toEqual([...FIELDS.keys()].toSorted());
  });

  it.each([...FIELDS].filter(([, { default: value }]) => value !== undefined))(
    'has the default of %s',
    (name, { default: value }) => {
      expect(rows.get(name)).toBe(
        `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``,
      );
    },
  );

  it.each(GATES)('names the gate %s', (gate) => {
    expect(section).toContain(`\`${gate}\``);
  });
});

describe('the command line', () => {
  it.each(NAMES)('gives the function of %s nothing that is not read there', (name) => {
    const given = optionsOf(name).flatMap((option) => (OPTIONS[option] as Option).field ?? []);
    expect(fieldsOf(name)).toEqual(expect.arrayContaining(given));
  });

  it.each(NAMES)('helps with %s: every option, what is needed, and whether it acts', (name) => {
    const help = helpOn(name);
    const { acts, needs } = commandNamed(name);
    expect(help.split('\n')[0]).toMatch(new RegExp(`^${name}: .*\\. By .*\\. ${ACTS[acts]}$`));
    for (const option of optionsOf(name)) expect(help).toContain(`  --${option}`);
    expect(help.match(/\(needed\)$/gm) ?? []).toHaveLength(needs.length);
    expect(help.includes('--execute ')).toBe(acts === 'when told to');
    expect(help.includes('--yes-run ID')).toBe(commandNamed(name).isGrave);
  });

  it('lists every command', () => {
    for (const name of NAMES) expect(helpOn()).toMatch(new RegExp(`^  ${name} +\\w`, 'm'));
  });
});
