// Settings of every Vitest worker: the test files of one worker share modules, which Node imports and keeps compiled.
import { COMPILE_CACHE } from '../../../processes/caches.ts';

// The workers inherit this environment.
process.env.NODE_COMPILE_CACHE = COMPILE_CACHE;

export const WORKERS = {
  isolate: false,
  // Modules are imported by Node itself: Vite's runner turns each use of an import into a call, and compiles its code in every run.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // Room for short-lived objects: with less, garbage is collected twice as often.
  execArgv: ['--max-semi-space-size=32'],
};
