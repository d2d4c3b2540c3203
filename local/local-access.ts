// Credentials and region for a local database. DynamoDB Local has separate tables for each access key and region, so programs
// that share a database must use the same values.
export interface LocalAccess {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Also the default region of a deployment (serverless.yml). */
export const DEFAULT_REGION = 'eu-west-1';

/** Returns dummy values, unless the environment sets others. */
export function readLocalAccess(environment: NodeJS.ProcessEnv): LocalAccess {
  return {
    region: environment.AWS_REGION || DEFAULT_REGION,
    accessKeyId: environment.AWS_ACCESS_KEY_ID || 'local',
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY || 'local',
  };
}

/** Sets region and credentials in the environment, where AWS clients read them by default. */
export function useLocalAccess(environment: NodeJS.ProcessEnv): void {
  const { region, accessKeyId, secretAccessKey } = readLocalAccess(environment);
  environment.AWS_REGION = region;
  environment.AWS_ACCESS_KEY_ID = accessKeyId;
  environment.AWS_SECRET_ACCESS_KEY = secretAccessKey;
}
