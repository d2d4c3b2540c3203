// The part of serverless.yml that the files in this folder read when they generate the template.

export interface Configuration {
  resolveVariable(name: string): Promise<unknown>;
  resolveConfigurationProperty(path: readonly string[]): Promise<unknown>;
}

/** A function as serverless.yml declares it, or as the files in `ledger` and `migration` generate it. */
export interface FunctionSettings {
  readonly handler: string;
  /**
   * Table actions that the function may use; undefined for functions that get their role elsewhere, such as the migration's.
   */
  readonly table?: readonly string[];
  readonly timeout?: number;
  readonly events?: readonly { readonly httpApi?: string; readonly schedule?: object }[];
}

/** CloudFormation resources by their logical names. */
export type Resources = Record<string, object>;

/** Reads the value of a variable, such as `param:tableName`, as text. */
export async function readText({ resolveVariable }: Configuration, name: string): Promise<string> {
  return String(await resolveVariable(name));
}

/** Reads a section of serverless.yml, such as `custom.migrationAccess`. */
export async function readSection<Section>(
  { resolveConfigurationProperty }: Configuration,
  ...path: readonly string[]
): Promise<Section> {
  return (await resolveConfigurationProperty(path)) as Section;
}

/** Reads every function of the service, by name. */
export async function readFunctions(
  configuration: Configuration,
): Promise<Record<string, FunctionSettings>> {
  const parts = await readSection<readonly Record<string, FunctionSettings>[]>(
    configuration,
    'functions',
  );
  return Object.assign({}, ...parts);
}

/** `transactionsList` -> `TransactionsList`, from which Serverless Framework builds the names of a function's resources. */
export function toLogicalName(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
