// The service in this process: the real handlers behind a test double of the gateway.
import { randomUUID } from 'node:crypto';
import type {
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Context,
} from 'aws-lambda';
import type { LedgerService } from '../../../../lib/ledger/ledger.ts';
import { type Api, type ApiRequest, toApiResponse, withVerbs } from './api-client.ts';
import { toGatewayEvent } from './gateway-event.ts';
import { findRoute, isPage, OPERATIONS } from './routes.ts';

type Handler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

export async function openInProcess(service: LedgerService): Promise<Api> {
  const handlers = await loadHandlers(service);

  async function request(method: string, path: string, options: ApiRequest = {}) {
    const route = findRoute(method, path);
    const handler = handlers.get(route.functionName);
    if (!handler) throw new Error(`No function is loaded for ${route.functionName}`);
    const event = toGatewayEvent(route, method, path, options);
    const { statusCode = 0, headers = {}, body = '' } = await handler(event, createLambdaContext());
    return toApiResponse(statusCode, headers as Record<string, string>, body);
  }

  return withVerbs({ request, close: async () => {} });
}

function createLambdaContext(): Context {
  return { awsRequestId: randomUUID() } as Context;
}

async function loadHandlers(service: LedgerService): Promise<Map<string, Handler>> {
  // Each module also creates its deployed handler, which needs a table name but is not called here.
  process.env.TABLE_NAME ??= 'not-called';
  const [preflight, notFound] = await Promise.all([
    import('../../../../functions/service/preflight.ts'),
    import('../../../../functions/service/not-found.ts'),
  ]);
  const loaded = OPERATIONS.filter(([, name]) => !isPage(name));
  const operations = loaded.map(async ([, name]): Promise<[string, Handler]> => {
    const [folder, file] = name.split('/');
    const { createHandler } = await import(`../../../../functions/${folder}/${file}.ts`);
    return [name, createHandler(service) as Handler];
  });
  return new Map<string, Handler>([
    ...(await Promise.all(operations)),
    ['service/preflight', preflight.handler as unknown as Handler],
    ['service/not-found', notFound.handler as unknown as Handler],
  ]);
}
