// The operator's guide: its reference tables match the code, and every command that it shows is valid.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listSections, TABLES, updateTables } from '../../../cli/migration/migrate/reference.ts';
import { HOOK_ACTIONS } from '../../../lib/migration/ports/hooks.ts';
import { RETRYABLE_FAILURES } from '../../../lib/migration/refusals.ts';
import { createSandboxCommand, type SandboxOptions } from '../../../sandbox/sandbox-options.ts';
import { describeFirstSteps } from '../../../sandbox/sandbox-text.ts';
import { createFakeInvoker } from '../support/fake-invoker.ts';
import { typeCommand } from '../support/typed-command.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../../docs/migration/guide.md'), 'utf8');
const COMMANDS = [...GUIDE.matchAll(/npm run (?:-s )?migrate -- ([^`\n#"]+)/g)].map(
  ([, commandLine = '']) => commandLine.trim(),
);

describe('the guide', () => {
  it('has up-to-date generated tables (npm run describe)', () => {
    expect(listSections(GUIDE).toSorted()).toEqual(Object.keys(TABLES).toSorted());
    expect(updateTables(GUIDE)).toBe(GUIDE);
  });

  it('has at most 2,600 words', () => {
    expect(GUIDE.split(/\s+/).length).toBeLessThanOrEqual(2_600);
  });

  it.each([...new Set(COMMANDS)])('shows a command that can be typed: %s', async (commandLine) => {
    const { code, status } = await typeCommand(
      createFakeInvoker({}).invoker,
      `${commandLine} --help`,
    );
    expect([code, status]).toEqual([0, '']);
    const options = commandLine.match(/--[a-z-]+/g) ?? [];
    const help = await typeCommand(
      createFakeInvoker({}).invoker,
      `${commandLine.split(' ')[0]} --help`,
    );
    for (const option of options) expect(help.output).toContain(option);
  });

  it("starts the run whose test user owns the sandbox's key", async () => {
    let steps: string[] = [];
    const open = async (options: SandboxOptions) => {
      steps = describeFirstSteps(options, {});
    };
    await createSandboxCommand(open).parseAsync([], { from: 'user' });
    const command = steps.find((line) => line.includes('migrate -- run'))?.trim();
    expect(GUIDE).toContain(`${command}\n`);
  });

  it.each([...RETRYABLE_FAILURES, ...HOOK_ACTIONS])('explains %s', (name) => {
    expect(GUIDE).toContain(`\`${name}\``);
  });
});
