// The operators' guide names every refusal with its remedy, every variable and every action, as the code has them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS, GATES } from '../../../lib/migration/phases.ts';
import { HOOK_ACTIONS } from '../../../lib/migration/ports/hooks.ts';
import { REMEDIES, RETRYABLE_FAILURES } from '../../../lib/migration/refusals.ts';

const ROOT = join(import.meta.dirname, '../../..');
const GUIDE = readFileSync(join(ROOT, 'docs/migration.md'), 'utf8');
const ENVIRONMENT = readFileSync(join(ROOT, 'lib/migration/settings.ts'), 'utf8');

describe('the guide', () => {
  it('has a row for every refusal, in the words of its message, and for no other', () => {
    const rows = [...GUIDE.matchAll(/^\| `(Refused\w+)` \| (.+) \|$/gm)];
    expect(Object.fromEntries(rows.map(([, name, remedy]) => [name, remedy]))).toEqual(REMEDIES);
  });

  it.each(RETRYABLE_FAILURES)('names %s', (name) => {
    expect(GUIDE).toContain(`\`${name}\``);
  });

  it('has a row for everything that the webhook is asked for, and for nothing else', () => {
    const [, section = ''] = /### The webhook\n(.*?)\n#/s.exec(GUIDE) ?? [];
    const rows = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, action]) => action);
    expect(rows.toSorted()).toEqual([...HOOK_ACTIONS].toSorted());
  });

  it('names every gate where its field is told of', () => {
    const [, told = ''] = /^\| `gate` \| approve \|(.+)$/m.exec(GUIDE) ?? [];
    expect([...told.matchAll(/`([a-z]+)`/g)].map(([, gate]) => gate)).toEqual([...GATES]);
  });

  it.each(COMMANDS.filter((command) => !['abandon', 'retention'].includes(command)))(
    'has %s in the plan or the answers',
    (command) => {
      expect(GUIDE).toContain(`\`${command}\``);
    },
  );

  it('names every variable that is read', () => {
    const read = new Set([...ENVIRONMENT.matchAll(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)].flat());
    for (const name of read) expect(GUIDE, name).toContain(name);
  });
});
