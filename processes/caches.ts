// Caches kept between runs. A program that keeps what it has compiled takes about half the time from its second start on.
import { join } from 'node:path';

/** Programs that are downloaded once, compiled code, and the data of the local service. */
export const LOCAL = join(import.meta.dirname, '../.local');

/** Folder of Node's compile cache. */
export const COMPILE_CACHE = join(LOCAL, 'compile-cache');

/** A home for Serverless, which keeps its compiled configuration schema there. */
export const SERVERLESS_HOME = join(LOCAL, 'home');
