// A plugin of Serverless Framework that accepts the property `table` of a function: the table actions that the function may use.
import { WRITE_ACTIONS } from './roles.ts';

/**
 * DynamoDB's action names, and three more: `QueryTable` allows `Query` without the indexes, `ApiKeys` allows reading API keys alone,
 * `Register` allows adding to the list of ledgers.
 */
const ACTIONS = ['GetItem', 'Query', 'QueryTable', ...WRITE_ACTIONS, 'ApiKeys', 'Register'];

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
