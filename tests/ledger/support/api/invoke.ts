// Calls a handler as Lambda does, with the parts of an event that handlers read.
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';

type Handler = (event: object, context: object) => Promise<APIGatewayProxyStructuredResultV2>;

export async function invoke(handler: unknown, event: object = {}, context: Partial<Context> = {}) {
  const http = { method: 'GET', path: '/' };
  const sent = { headers: {}, requestContext: { http, requestId: 'gateway-1' }, ...event };
  const reply = await (handler as Handler)(sent, { awsRequestId: 'lambda-1', ...context });
  return { ...reply, json: () => JSON.parse(reply.body ?? '') };
}
