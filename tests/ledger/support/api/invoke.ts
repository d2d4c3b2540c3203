// Calls a handler as Lambda does, with the parts of an event that handlers read.
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';

type Handler = (event: object, context: object) => Promise<APIGatewayProxyStructuredResultV2>;

export async function invoke(handler: unknown, event: object = {}, context: Partial<Context> = {}) {
  const http = { method: 'GET', path: '/' };
  const fullEvent = { headers: {}, requestContext: { http, requestId: 'gateway-1' }, ...event };
  const response = await (handler as Handler)(fullEvent, { awsRequestId: 'lambda-1', ...context });
  return { ...response, json: () => JSON.parse(response.body ?? '') };
}
