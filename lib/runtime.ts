// The ledger of this process, made once per cold start from the environment.
import { readLedgerConfig } from './config.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { createDocumentClient } from './store/document-client.ts';

/** @throws ConfigurationError */
export function ledgerFromEnvironment(): Ledger {
  const { dynamodbEndpoint, ...config } = readLedgerConfig(process.env);
  return createLedger({ client: createDocumentClient(dynamodbEndpoint), ...config });
}
