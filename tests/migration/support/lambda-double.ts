// A double of AWS Lambda's Invoke API, as documented, with the real functions in this process: it returns their results
// and the names of their errors, and responds as Lambda does if a function does not exist, may not be invoked
// or is cut off.
import { readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { Services } from '../../../lib/migration/services.ts';
import { listen } from '../../shared/support/loopback.ts';

const FOLDER = join(import.meta.dirname, '../../../functions/migration');

/** Response that replaces an invocation of the function */
export interface Fault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface LambdaDouble {
  readonly url: string;
  /** Functions that were invoked, in order. */
  readonly invoked: string[];
  /** Ends the next invocation of the function with the fault, or breaks its connection. */
  failNext(functionName: string, fault: Fault | 'no response'): void;
  readonly close: () => Promise<void>;
}

type Handler = (payload: unknown, context: object) => Promise<unknown>;

const CONTEXT = { getRemainingTimeInMillis: () => 900_000 };

export async function startLambdaDouble(stage: string, services: Services): Promise<LambdaDouble> {
  const functions = await loadFunctions(`finance-ledger-${stage}-migration`, services);
  const invoked: string[] = [];
  const faults = new Map<string, Fault | 'no response'>();

  async function respondTo(name: string, payload: string): Promise<Fault | 'no response'> {
    invoked.push(name);
    const fault = faults.get(name);
    faults.delete(name);
    if (fault) return fault;
    const handler = functions.get(name);
    if (!handler)
      return createRefusal(404, 'ResourceNotFoundException', `Function not found: ${name}`);
    try {
      const result = await handler(JSON.parse(payload), CONTEXT);
      return { status: 200, body: result ?? null };
    } catch (error) {
      const { name: errorType, message: errorMessage } = error as Error;
      return createFunctionError({ errorType, errorMessage, trace: [] });
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(request.url ?? '')?.[1];
    const reply = await respondTo(name ?? '', await text(request));
    if (reply === 'no response') return void request.socket.destroy();
    const { status, headers, body } = reply;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  }

  return {
    ...(await listen((request, response) => void serve(request, response))),
    invoked,
    failNext: (functionName, fault) => faults.set(functionName, fault),
  };
}

/** Creates the response for a function that failed, although its invocation succeeded. */
export function createFunctionError(body: unknown): Fault {
  return { status: 200, headers: { 'x-amz-function-error': 'Unhandled' }, body };
}

/** Creates the response for an invocation that failed, so that the function did not run. */
export function createRefusal(status: number, type: string, Message: string): Fault {
  return { status, headers: { 'x-amzn-errortype': type }, body: { Type: 'User', Message } };
}

async function loadFunctions(prefix: string, services: Services): Promise<Map<string, Handler>> {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.ts'));
  const entries = files.map(async (file): Promise<[string, Handler]> => {
    const { createHandler } = await import(pathToFileURL(join(FOLDER, file)).href);
    const base = file.slice(0, -'.ts'.length);
    const name = `${prefix}${base[0]?.toUpperCase()}${base.slice(1)}`;
    return [name, createHandler(async () => services)];
  });
  return new Map(await Promise.all(entries));
}
