// With what credentials and in what region a local database is spoken to. DynamoDB Local keeps the tables of
// every access key and region apart, so that all who share one must say the same.
export interface LocalAccess {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Dummies, unless the environment names others. */
export function localAccess(environment: NodeJS.ProcessEnv): LocalAccess {
  return {
    region: environment.AWS_REGION || 'eu-west-1',
    accessKeyId: environment.AWS_ACCESS_KEY_ID || 'local',
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY || 'local',
  };
}

/** Has this process speak so, where it makes clients as a function does: from its environment. */
export function speakLocally(environment: NodeJS.ProcessEnv): void {
  const { region, accessKeyId, secretAccessKey } = localAccess(environment);
  environment.AWS_REGION = region;
  environment.AWS_ACCESS_KEY_ID = accessKeyId;
  environment.AWS_SECRET_ACCESS_KEY = secretAccessKey;
}
