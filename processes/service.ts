// A real service that tests can run against, for as long as a command runs.
import type { Running } from './running.ts';

export interface StartedService {
  /** The variables that name it to a command. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves to how it ended. */
  readonly ended: Promise<string>;
}

export interface Service {
  readonly title: string;
  /** Why it cannot run on this machine; `undefined` where it can. */
  obstacle(): string | undefined;
  /**
   * Starts it, fetching it where it is not yet there.
   * @throws UserError
   */
  start(running: Running): Promise<StartedService>;
}
