// Requests to a webhook and their responses; without a webhook, a person is asked.
import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createSecret } from '../../../../lib/migration/adapters/secrets.ts';
import { createWebhook } from '../../../../lib/migration/adapters/webhook.ts';
import type { HookRequest } from '../../../../lib/migration/ports/hooks.ts';
import { listenInTest } from '../../../shared/support/loopback.ts';
import { failureNamed } from '../../support/refused.ts';

const FREEZE: HookRequest = {
  action: 'freeze',
  runId: 'run-a',
  occasion: 'switching-7',
  collection: 'memories',
  testUser: 'tester',
  deadlineAt: Date.parse('2026-03-01T10:00:00Z'),
};

async function startHook(status: number) {
  const received: { headers: Record<string, unknown>; body: unknown }[] = [];
  const url = await listenInTest(async (request, response) => {
    received.push({ headers: request.headers, body: await json(request) });
    response.writeHead(status).end();
  });
  const token = createSecret('t0ken');
  return { received, hooks: createWebhook({ url, token, timeoutMs: 5_000 }) };
}

describe('a webhook', () => {
  it('gets the action, the run and the deadline, with its token', async () => {
    const { received, hooks } = await startHook(204);
    await hooks.ask(FREEZE);
    expect(received).toEqual([
      {
        headers: expect.objectContaining({
          authorization: 'Bearer t0ken',
          'idempotency-key': 'run-a:switching-7:freeze',
        }),
        body: {
          action: 'freeze',
          run_id: 'run-a',
          collection: 'memories',
          test_user: 'tester',
          deadline_at: '2026-03-01T10:00:00.000Z',
        },
      },
    ]);
  });

  it('gets the same request with another key on another occasion', async () => {
    const { received, hooks } = await startHook(204);
    const warning = { ...FREEZE, action: 'warn-of-end' } as const;
    for (const occasion of ['7', '6']) await hooks.ask({ ...warning, occasion });
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual([
      'run-a:7:warn-of-end',
      'run-a:6:warn-of-end',
    ]);
  });

  it.each([
    [200, 'done'],
    [204, 'done'],
    [202, 'under-way'],
  ])('that answers %i has the result %s', async (status, outcome) => {
    const { hooks } = await startHook(status);
    expect(await hooks.ask(FREEZE)).toBe(outcome);
  });

  it.each([
    [401, 'RefusedCredentials'],
    [403, 'RefusedCredentials'],
    [302, 'RefusedByService'],
    [409, 'RefusedByService'],
    [503, 'RetryableUnavailable'],
  ] as const)('that answers %i has the result %s', async (status, name) => {
    const { hooks } = await startHook(status);
    await expect(hooks.ask(FREEZE)).rejects.toEqual(failureNamed(name));
  });

  it('that refuses the token causes an error that names its variable', async () => {
    const { hooks } = await startHook(403);
    await expect(hooks.ask(FREEZE)).rejects.toThrow(
      'The webhook of MIGRATION_WEBHOOK_URL answered 403 to freeze: check MIGRATION_WEBHOOK_TOKEN.',
    );
  });
});
