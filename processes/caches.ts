// Caches kept between runs. From its second start on, a program that caches its compiled code takes about half the time.
import { join } from 'node:path';

/** Folder of downloaded programs, compiled code, and the data of the local service. */
export const LOCAL_FOLDER = join(import.meta.dirname, '../.local');

/** Folder of Node's compile cache. */
export const COMPILE_CACHE = join(LOCAL_FOLDER, 'compile-cache');

/** Home folder for the Serverless Framework, which keeps its compiled configuration schema there. */
export const SERVERLESS_HOME = join(LOCAL_FOLDER, 'home');
