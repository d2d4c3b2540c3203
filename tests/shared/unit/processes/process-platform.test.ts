// Starts programs on each platform. The tests run on one platform, so they check the command line that would be used.
import { expect, it } from 'vitest';
import { POSIX, WINDOWS } from '../../../../processes/child-process.ts';

it.each([
  ['java', ['-jar', 'a b.jar'], { command: 'java', args: ['-jar', 'a b.jar'], detached: false }],
  ['npm', ['pack', 'x'], { command: 'cmd.exe', args: ['/d', '/c', 'npm', 'pack', 'x'] }],
])('Windows starts %s without sh, which Windows lacks', (command, args, launch) => {
  expect(WINDOWS.launch(command, args)).toMatchObject(launch);
});

it('other systems start a program in its own process group, which ends with this process', () => {
  const { command, args, detached } = POSIX.launch('java', ['-jar', 'a b.jar']);
  expect([command, detached, args.slice(-3)]).toEqual(['sh', true, ['java', '-jar', 'a b.jar']]);
});
