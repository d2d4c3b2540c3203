// The ledger service of this process, created once per cold start from the environment.

import { createDocumentClient } from '../shared/document-client.ts';
import type { TokenIssuer, VerifyToken } from './auth/access-tokens.ts';
import { readLedgerConfig } from './config.ts';
import { createLedgerService, type LedgerService } from './ledger.ts';

/** @throws ConfigurationError */
export function createServiceFromEnvironment(): LedgerService {
  const { dynamodbEndpoint, issuer, ...config } = readLedgerConfig(process.env);
  return createLedgerService({
    client: createDocumentClient(dynamodbEndpoint),
    verifyToken: issuer && createLazyVerifier(issuer),
    ...config,
  });
}

// Loads the verifier with the first access token: most functions never receive one.
function createLazyVerifier(issuer: TokenIssuer): VerifyToken {
  let verify: Promise<VerifyToken> | undefined;
  return async (token) => {
    verify ??= import('./auth/access-tokens.ts').then((loaded) =>
      loaded.createTokenVerifier(issuer),
    );
    return await (await verify)(token);
  };
}
