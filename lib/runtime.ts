// The ledger service of this process, created once per cold start from the environment.
import { readLedgerConfig } from './config.ts';
import { createLedgerService, type LedgerService } from './ledger/ledger.ts';
import { createDocumentClient } from './store/document-client.ts';

/** @throws ConfigurationError */
export function serviceFromEnvironment(): LedgerService {
  const { dynamodbEndpoint, ...config } = readLedgerConfig(process.env);
  return createLedgerService({ client: createDocumentClient(dynamodbEndpoint), ...config });
}
