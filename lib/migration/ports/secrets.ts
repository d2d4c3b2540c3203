// Where secrets come from, by the name of the variable that would hold or point at them.
import type { Secret } from './secret.ts';

export interface Secrets {
  /**
   * The secret of a name such as MEMORY_BACKEND_KEY.
   * @throws Refusal naming the variable, where there is none
   */
  read(name: string): Promise<Secret>;
}
