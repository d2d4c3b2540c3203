// A plug-in of the packager: a function of serverless.yml says in `table` what it may do to the table.
import { WRITE_ACTIONS } from './roles.ts';

/**
 * Rights to the table: actions of DynamoDB, where `Query` includes the indexes and `QueryTable` does not. `ApiKeys` says that
 * the function reaches nothing but the API key of the request; `Register` lets it make entries in the list of ledgers.
 */
const ACTIONS = [
  ...['GetItem', 'Query', 'QueryTable', ...WRITE_ACTIONS],
  ...['ApiKeys', 'Register'],
];

interface Serverless {
  readonly configSchemaHandler: {
    defineFunctionProperties(provider: string, schema: object): void;
  };
}

export class TableAccess {
  constructor({ configSchemaHandler }: Serverless) {
    const table = { type: 'array', items: { enum: ACTIONS }, uniqueItems: true };
    configSchemaHandler.defineFunctionProperties('aws', { properties: { table } });
  }
}

// The packager requires this file, and calls the export of this name.
export { TableAccess as 'module.exports' };
