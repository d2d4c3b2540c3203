import { effect } from '@preact/signals';

/** Resolves once the condition holds: at once, or when a signal that it reads changes. */
export async function untilTrue(condition: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = effect(() => {
    if (condition()) resolve();
  });
  await promise;
  stop();
}
