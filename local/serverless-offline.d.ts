// Types for the part of serverless-offline that local/offline.ts uses. The package itself has none.
declare module 'serverless-offline' {
  interface FunctionDefinition {
    readonly events?: readonly object[];
  }

  export interface Definition {
    readonly functions: Readonly<Record<string, FunctionDefinition>>;
  }

  /** The part of the framework that the plugin reads. */
  interface Framework {
    readonly config: { readonly servicePath: string };
    readonly serviceDir: string;
    readonly service: Definition & {
      getAllFunctions(): readonly string[];
      getFunction(name: string): FunctionDefinition | undefined;
      getAllEventsInFunction(name: string): readonly object[] | undefined;
    };
  }

  type Print = (...parts: unknown[]) => void;
  type Level = 'debug' | 'error' | 'info' | 'notice' | 'verbose' | 'warning';

  export default class ServerlessOffline {
    constructor(
      framework: Framework,
      options: Readonly<Record<string, string | boolean>>,
      utilities: { readonly log: Readonly<Record<Level, Print>> },
    );
    start(): Promise<void>;
    /** Answers the pending requests, and exits the process. */
    end(): Promise<never>;
  }
}
