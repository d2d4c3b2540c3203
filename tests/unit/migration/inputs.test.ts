// The guide has every field of the functions' inputs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GATES } from '../../../lib/migration/phases.ts';
import { stepInputSchema } from '../../../lib/migration/runs/step-input.ts';
import { approveInputSchema } from '../../../lib/migration/steps/approve.ts';
import { preflightInputSchema } from '../../../lib/migration/steps/new-run.ts';
import { statusInputSchema } from '../../../lib/migration/steps/status.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../../docs/migration.md'), 'utf8');
const SCHEMAS = [preflightInputSchema, approveInputSchema, statusInputSchema, stepInputSchema];

interface Field {
  readonly type: string;
  readonly default?: unknown;
}

const FIELDS: ReadonlyMap<string, Field> = new Map(
  SCHEMAS.flatMap(({ entries }) => Object.entries<Field>(entries)),
);

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
