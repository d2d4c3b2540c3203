// Every refusal of a migration, with its remedy, and every retryable failure. Refusals share a name if the operator can do the
// same about them. The names are string literals, which survive minification, because the state machine matches them.

export const REMEDIES = {
  // The command does not fit the run.
  RefusedUnknownRun:
    'Begin one with "npm run migrate -- run --source COLLECTION", give the id that "status" shows, or name the right table with TABLE_NAME and DYNAMODB_ENDPOINT.',
  RefusedOtherRun:
    'Finish that run, or end it with "abort", after a rollback where it is live; then repeat this command.',
  RefusedNotNow: 'Run the command that "npm run migrate -- status" shows.',
  RefusedNotApproved:
    'Read the report that "status" shows, then repeat the command: type the run id or give "--yes", and no other --report.',
  RefusedLockLost: 'Another invocation continues the run: follow it with "status".',
  // Invalid input or configuration
  RefusedSetting:
    'Set or correct the named variable, parameter, option or field, then repeat the command.',
  RefusedSettingChanged:
    'Find out who changed it, put the expected name back, then repeat the command.',
  RefusedCredentials: 'Correct the key or its permissions; a refused key is not tried again.',
  RefusedKeyOfOtherUser:
    'Supply an API key of the test user that the message names; a key of __migration_test_ID is for a run that begins with "--run ID".',
  RefusedPrerequisites: 'Repair what the message names, then repeat the command.',
  RefusedNameTaken: 'Choose another run id, or another --upload-as.',
  // A service refused
  RefusedByService: 'Repair the named fault of the service, then repeat the command.',
  RefusedStoreFull: 'Free or add space on the vector store, then repeat the command.',
  // Failed checks
  RefusedSnapshot:
    'Look at the log and the free space of the vector store, then repeat the command: it begins with a new snapshot.',
  RefusedMissingArtifact:
    'An artifact was removed or is incomplete: repeat the step that makes it.',
  RefusedNewVersion:
    'Repair the named fault of the new version, restart it, then repeat the command.',
  RefusedStillNewVersion:
    'Users are on the new version, and can write. Find out why the deployment that the message names was not done, then roll back again.',
  RefusedVerification:
    'Copy again, which repairs every difference. Do not continue while something differs.',
  RefusedNotFrozen: 'Stop every writer, then repeat the command.',
  RefusedSourceChanged: 'Stop every writer during the window, then repeat the command.',
  RefusedMassChange:
    'Repair the active collection, then repeat the command; if users made the changes, add --deletes N; a rollback also takes --as-it-was.',
  RefusedEmptied:
    'Repair the active collection, then repeat "run"; or, if users deleted as many, "run --deletes N".',
  RefusedLossNotAcknowledged: 'To leave that many behind, add --acknowledged-loss and that number.',
  RefusedNothingToReturnTo:
    'Restore it, as docs/migration/guide.md shows, then roll back again; before a rollback has begun, users can stay.',
  RefusedDefect:
    'This is a defect of the migration: report it with the message and what "status" shows.',
} as const;

export type RefusalName = keyof typeof REMEDIES;

export function isRefusalName(name: string): name is RefusalName {
  return Object.hasOwn(REMEDIES, name);
}

/** Details from which a command derives the operator's next command */
export interface RefusalData {
  /** The run in progress */
  readonly otherRun?: string;
  /** Points that would be removed or changed, for `--deletes` */
  readonly deletes?: number;
  /** Writes that would be left behind, for `--acknowledged-loss` */
  readonly loss?: number;
  /** The refused run, in a command that works on all runs */
  readonly run?: string;
  /** Minutes that the window needs, for `--window-minutes` */
  readonly windowMinutes?: number;
  /** Value for `--accept`, if the finding can be accepted */
  readonly finding?: string;
}

/**
 * A failure that a retry would not change. The message ends with the remedy and the data, because AWS Lambda passes on only the
 * name and the message of an error.
 */
export class Refusal extends Error {
  override readonly name: RefusalName;
  readonly why: string;
  readonly remedy: string;
  /** HTTP status or error code of the service's response */
  readonly code: number | string | undefined;
  readonly data: RefusalData;

  /** @param why one sentence about this case; never a secret, a user's id or memory text */
  constructor(
    name: RefusalName,
    why: string,
    { data = {}, ...options }: ServiceErrorOptions & { readonly data?: RefusalData } = {},
  ) {
    const dataText = Object.keys(data).length > 0 ? ` ${JSON.stringify(data)}` : '';
    super(`${why} ${REMEDIES[name]}${dataText}`, options);
    this.name = name;
    this.why = why;
    this.remedy = REMEDIES[name];
    this.code = options.code;
    this.data = data;
  }
}

/** Creates the refusal of a command that does not fit the current state of the run. */
export function notNow(why: string): Refusal {
  return new Refusal('RefusedNotNow', why);
}

/** Restores a refusal from its name and message. */
export function parseRefusal(name: RefusalName, message: string): Refusal {
  const [why = '', appendix = ''] = message.split(` ${REMEDIES[name]}`);
  const data = appendix.startsWith(' {') ? (JSON.parse(appendix) as RefusalData) : {};
  return new Refusal(name, why, { data });
}

/** Message for people, without the data */
export function messageWithoutData(error: Error): string {
  return error instanceof Refusal ? `${error.why} ${error.remedy}` : error.message;
}

interface ServiceErrorOptions extends ErrorOptions {
  readonly code?: number | string;
}

/** True if a service refused with this status or error code. */
export function isRefusedWith(error: unknown, code: number | string): boolean {
  return error instanceof Refusal && error.code === code;
}

/** `isRefusedWith` as a predicate for `recoverWith` */
export function whenRefusedWith(code: number | string) {
  return (error: unknown): boolean => isRefusedWith(error, code);
}

export function isRefusal(error: unknown, name: RefusalName): error is Refusal {
  return error instanceof Refusal && error.name === name;
}

/** Creates a rejection handler that returns the value for an expected failure, and rethrows any other failure. */
export function recoverWith<Value>(value: Value, isExpected: (failure: unknown) => boolean) {
  return (failure: unknown): Value => {
    if (isExpected(failure)) return value;
    throw failure;
  };
}

export const RETRYABLE_FAILURES = ['RetryableUnavailable', 'RetryableLockHeld'] as const;

export type RetryableName = (typeof RETRYABLE_FAILURES)[number];

export function isRetryableName(name: string): name is RetryableName {
  return RETRYABLE_FAILURES.some((retryable) => retryable === name);
}

/** A service did not respond, or asked for a pause: the same call may succeed later. */
export class RetryableFailure extends Error {
  override readonly name: RetryableName;
  /** Pause that the service asked for */
  readonly retryAfterSeconds: number | undefined;
  /** HTTP status; undefined without a response: the request may still have been carried out. */
  readonly code: number | string | undefined;

  constructor(
    name: RetryableName,
    why: string,
    options: ServiceErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    super(why, options);
    this.name = name;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.code = options.code;
  }
}

/** True if the failed request may have been carried out anyway. */
export function mayBeDone(error: unknown): boolean {
  if (error instanceof RetryableFailure) return error.code === undefined;
  return !(error instanceof Refusal);
}

export function isRetryableFailure(error: unknown): error is RetryableFailure {
  return error instanceof RetryableFailure;
}

/** True if another step holds the lock of the run; if that step crashed, the lock expires. */
export function isLockHeld(error: unknown): boolean {
  return isRetryableFailure(error) && error.name === 'RetryableLockHeld';
}
