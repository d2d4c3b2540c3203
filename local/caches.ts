// Where programs keep what they have compiled: from its second start on, each takes about half the time.
import { join } from 'node:path';

const LOCAL = join(import.meta.dirname, '..', '.local');

/** Of Node. */
export const COMPILE_CACHE = join(LOCAL, 'compile-cache');

/** A home for Serverless, which keeps its compiled configuration schema there. */
export const SERVERLESS_HOME = join(LOCAL, 'home');
