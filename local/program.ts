// Programs that the machine brings: whether they are there, and new enough.
import { execFileSync } from 'node:child_process';

/** What the program says of itself; `undefined` where there is no such program. */
export function answerOf(command: string, ...args: readonly string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return undefined;
  }
}

/** Why no Java of that version or newer is here; `undefined` where one is. */
export function whyNoJava(needed: number): string | undefined {
  // `java -version` writes to standard error, `--version` to standard output.
  const words = answerOf('java', '--version');
  if (words === undefined) return `there is no Java ${needed} or newer`;
  const found = Number(/\b(\d+)[.\s]/.exec(words)?.[1]);
  return found >= needed ? undefined : `Java is ${found}, not ${needed} or newer`;
}
