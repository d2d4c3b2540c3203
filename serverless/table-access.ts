// A plug-in of the packager: a function of serverless.yml says in `table` what it may do to the table.
import { WRITE_ACTIONS } from './roles.ts';

/**
 * Actions of DynamoDB on the table; `Query` on its indexes too. `ApiKeys`: nothing besides the key of the request; `Register`: entries
 * in the list of ledgers.
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

// The packager requires this file and calls what it gets.
export { TableAccess as 'module.exports' };
