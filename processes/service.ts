// The interface of a service that tests and commands start and stop, such as an emulator.
import type { Resources } from './resources.ts';

export interface StartedService {
  /** Environment variables that tell a command how to reach the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves to how the service ended. */
  readonly ended: Promise<string>;
}

export interface Service {
  readonly title: string;
  /** Says why the service cannot run on this machine; `undefined` if it can. */
  whyUnavailable(): string | undefined;
  /**
   * Starts the service, and fetches its program first if it is missing.
   * @throws UserError
   */
  start(resources: Resources): Promise<StartedService>;
}
