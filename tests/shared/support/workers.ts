// Settings of every Vitest worker: the files of one worker share modules, which Node imports and whose compiled code it keeps.
import { COMPILE_CACHE } from '../../../processes/caches.ts';

// For the workers, which start with this environment.
process.env.NODE_COMPILE_CACHE = COMPILE_CACHE;

export const WORKERS = {
  isolate: false,
  // Node's own imports: Vite's runner makes each use of an import a call, and its code is compiled again in every run.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // Room for what a test throws away: with less, it is collected twice as often.
  execArgv: ['--max-semi-space-size=32'],
};
