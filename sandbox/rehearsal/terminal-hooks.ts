// Asks the person at the terminal to freeze, deploy and open writes, if there is no webhook.
import { createInterface } from 'node:readline/promises';
import type { HookRequest, Hooks } from '../../lib/migration/ports/hooks.ts';

const INSTRUCTIONS: Readonly<
  Record<Exclude<HookRequest['action'], 'check'>, (request: HookRequest) => string>
> = {
  freeze: () => "refuse every write with a 503, including the test user's",
  'deploy-new': ({ collection, testUser }) =>
    `deploy the new version on ${collection}, and accept writes from ${testUser} only`,
  'deploy-old': ({ collection }) => `deploy the old version on ${collection}`,
  'open-writes': () => "accept all users' writes",
  'warn-of-end': () => 'tell all users that rollback will soon be impossible',
};

export function createTerminalHooks(terminal: {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}): Hooks {
  return {
    async ask(request) {
      if (request.action === 'check') return 'asked-of-a-person';
      const lines = createInterface(terminal);
      try {
        const instruction = INSTRUCTIONS[request.action](request);
        await lines.question(`Now ${instruction}; then press Enter: `);
        return 'done';
      } finally {
        lines.close();
      }
    },
  };
}
