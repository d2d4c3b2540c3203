// Credentials from the environment alone, where Lambda puts them. Bundles use this file instead of the SDK's default chain,
// which also looks in files, processes and the network.
import { ConfigurationError } from '../../lib/shared/errors.ts';

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * Replaces the export of the same name in `@aws-sdk/credential-provider-node`.
 * @throws ConfigurationError if the environment contains no credentials
 */
export function defaultProvider(): () => Promise<Credentials> {
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
      throw new ConfigurationError('AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set');
    }
    return {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    };
  };
}
