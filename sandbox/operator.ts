// Plays the operator behind the webhook of a rehearsal: freezes the backend until the given deadline, opens it, and deploys
// either version on a collection.
import type { HookRequest, Hooks } from '../lib/migration/ports/hooks.ts';
import type { VersionSettings } from './memory-backend/memory-version.ts';
import { type Shortcomings, startNewVersion } from './memory-backend/new-version.ts';
import { startOldVersion } from './memory-backend/old-version.ts';
import type { MemoryBackendSandbox } from './memory-backend/server.ts';

export interface Operator {
  readonly hooks: Hooks;
  /** Requested actions in order, except `check` */
  readonly actions: string[];
  readonly requests: readonly HookRequest[];
}

export function createOperator(options: {
  readonly backend: MemoryBackendSandbox;
  readonly settings: Omit<VersionSettings, 'collection'>;
  /** Faults of the new version once it is deployed */
  readonly shortcomings?: Shortcomings;
  /** Reports that writes are frozen, but leaves them open. */
  readonly forgetsToFreeze?: boolean;
}): Operator {
  const { backend, settings, shortcomings = {}, forgetsToFreeze = false } = options;
  const actions: string[] = [];
  const requests: HookRequest[] = [];
  return {
    actions,
    requests,
    hooks: {
      async ask(request) {
        const { action, collection, testUser } = request;
        if (action === 'check') return 'done';
        const { deadlineAt = Number.POSITIVE_INFINITY } = request;
        actions.push(action);
        requests.push(request);
        if (action === 'freeze' && !forgetsToFreeze) {
          backend.setWriters({ isFrozen: () => settings.now().getTime() < deadlineAt });
        }
        if (action === 'open-writes') backend.setWriters('all-users');
        if (action === 'deploy-new') {
          backend.deploy(await startNewVersion({ ...settings, collection, shortcomings }));
          backend.setWriters({ only: testUser });
        }
        if (action === 'deploy-old') {
          backend.deploy(await startOldVersion({ ...settings, collection }));
        }
        return 'done';
      },
    },
  };
}
