// Services with a few methods that a test replaces.
import type { ExternalAction } from '../../../lib/migration/phases.ts';
import type { HookOutcome, HookRequest } from '../../../lib/migration/ports/hooks.ts';
import type { Services } from '../../../lib/migration/services.ts';

/** Methods to replace in each service; the others stay. */
export type ServiceChanges = {
  readonly [Name in keyof Services]?: Partial<Services[Name]> | undefined;
};

export function changeServices(services: Services, changes: ServiceChanges): Services {
  const changed = Object.entries(changes).map(([name, change]) => {
    const service = services[name as keyof Services];
    return [name, typeof change === 'object' ? { ...(service as object), ...change } : change];
  });
  return { ...services, ...Object.fromEntries(changed) };
}

/** @param respond called before the operator is asked for the action; if it returns an answer, the operator is not asked */
export function onRequest(
  { services: { hooks } }: { readonly services: Services },
  action: ExternalAction,
  respond: (request: HookRequest) => HookOutcome | Promise<void>,
) {
  const ask = async (request: HookRequest): Promise<HookOutcome> =>
    (request.action === action && (await respond(request))) || (await hooks.ask(request));
  return { hooks: { ask } };
}
