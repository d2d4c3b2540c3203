// The package of the embedded database for each platform, most of which the tests never run on.
import { expect, it } from 'vitest';
import { findEmbeddedPackage } from '../../../../local/embedded-program.ts';
import manifest from '../../../../package.json' with { type: 'json' };

it.each([
  ['linux', 'x64', '@dynoxide/linux-x64', 'dynoxide'],
  ['linux', 'arm64', '@dynoxide/linux-arm64', 'dynoxide'],
  ['darwin', 'x64', '@dynoxide/darwin-x64', 'dynoxide'],
  ['darwin', 'arm64', '@dynoxide/darwin-arm64', 'dynoxide'],
  ['win32', 'x64', '@dynoxide/win32-x64', 'dynoxide.exe'],
])('the platform %s %s has the package %s with the program %s', (platform, arch, name, program) => {
  const version = manifest.optionalDependencies['@dynoxide/linux-x64'];
  expect(findEmbeddedPackage(platform, arch)).toMatchObject({ name, version, program });
});

it.each([
  ['win32', 'arm64'],
  ['freebsd', 'x64'],
])('the platform %s %s has no package', (platform, arch) => {
  expect(findEmbeddedPackage(platform, arch)).toBe(undefined);
});
