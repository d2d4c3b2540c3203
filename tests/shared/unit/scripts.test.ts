// The scripts of package.json, which npm gives to sh or to cmd.exe.
import { expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

it.each(Object.entries(manifest.scripts))(
  '%s uses only syntax that cmd.exe supports too',
  (_, script) => {
    for (const command of script.split(' && '))
      expect(command).toMatch(/^(node|npm|tsc|biome|knip|vitest)[\w ./:,-]*$/);
  },
);

// npm adds arguments to the end of a script: with two programs, only the second would see them.
it.each(Object.entries(manifest.scripts).filter(([, script]) => script.startsWith('node ')))(
  '%s is one program, which sees all arguments',
  (_, script) => expect(script).not.toContain('&&'),
);
