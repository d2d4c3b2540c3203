// Minimal environment of a process that must not see the shell's other variables.
import { COMPILE_CACHE } from '../../../processes/caches.ts';

export const BARE_ENVIRONMENT = { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE };
