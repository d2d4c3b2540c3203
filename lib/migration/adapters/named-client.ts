// A client of AWS whose failures tell which service was asked for.
import { markFailure } from '../ports/whose-failure.ts';

type Handler = (call: never) => Promise<unknown>;

interface Client {
  readonly middlewareStack: {
    add(
      middleware: (next: Handler) => Handler,
      options: { readonly step: 'initialize'; readonly name: string },
    ): void;
  };
}

export function namedClient<Named extends Client>(client: Named, service: string): Named {
  const marking = (next: Handler) => async (call: never) => {
    try {
      return await next(call);
    } catch (error) {
      markFailure(error, service);
      throw error;
    }
  };
  client.middlewareStack.add(marking, { step: 'initialize', name: 'namedClient' });
  return client;
}
