// Credentials and region for a local database. DynamoDB Local keeps separate tables for every access key and
// region, so programs that share one must use the same.
export interface LocalAccess {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The region of a deployment, too (serverless.yml). */
export const DEFAULT_REGION = 'eu-west-1';

/** Dummies, unless the environment names others. */
export function localAccess(environment: NodeJS.ProcessEnv): LocalAccess {
  return {
    region: environment.AWS_REGION || DEFAULT_REGION,
    accessKeyId: environment.AWS_ACCESS_KEY_ID || 'local',
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY || 'local',
  };
}

/** Sets them in the environment, for clients that read it as a function does. */
export function speakLocally(environment: NodeJS.ProcessEnv): void {
  const { region, accessKeyId, secretAccessKey } = localAccess(environment);
  environment.AWS_REGION = region;
  environment.AWS_ACCESS_KEY_ID = accessKeyId;
  environment.AWS_SECRET_ACCESS_KEY = secretAccessKey;
}
