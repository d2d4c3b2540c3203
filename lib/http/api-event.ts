// A request as handlers see it: the gateway's event and what every handler may ask of it.
import type { APIGatewayProxyEventV2 } from 'aws-lambda';

export type ApiEvent = Omit<APIGatewayProxyEventV2, 'pathParameters'> & {
  pathParameters?: Record<string, string | undefined>;
  /** The path's record id exactly as it was sent; empty on routes that have none. */
  pathId: string;
  /** Query parameters; one that was repeated holds its values joined by commas. */
  query: Readonly<Record<string, string | undefined>>;
};
