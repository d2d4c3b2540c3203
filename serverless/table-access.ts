// A plugin of Serverless Framework: a function's `table` in serverless.yml lists what it may do with the table.
import { WRITE_ACTIONS } from './roles.ts';

/**
 * Rights to the table: DynamoDB actions, where `Query` includes the indexes and `QueryTable` does not. With `ApiKeys` alone, the
 * function can only read the API key of the request; `Register` allows it to add entries to the list of ledgers.
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

// Serverless Framework loads this file, and calls the export of this name.
export { TableAccess as 'module.exports' };
