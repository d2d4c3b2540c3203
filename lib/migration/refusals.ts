// Every refusal and every retryable failure of a migration, with what to do about it: one name for each different
// action of an operator. The names are literal: they survive minification, and the state machine matches on them.

export const REMEDIES = {
  // The command does not fit the run.
  RefusedUnknownRun:
    'Begin one with "npm run migrate -- run --source COLLECTION", give the id that "status" shows, or name the right table with TABLE_NAME and DYNAMODB_ENDPOINT.',
  RefusedRunExists:
    'Give the command without that option; or, once this run is live or aborted, begin another: "run --run OTHER --source NAME".',
  RefusedRunEnded: 'Nothing more can be done with this run; start a new one under another id.',
  RefusedOtherRun:
    'Finish that run, or end it with "abort", after a rollback where it is live; then repeat this command.',
  RefusedNotNow: 'Give the command that "npm run migrate -- status" shows.',
  RefusedNotApproved:
    'Look at the report that "status" shows, then approve it: give the same command again.',
  RefusedUnconfirmed: 'Type the id of the run, or give "--yes".',
  RefusedDeadlinePassed: 'The window is over: "npm run migrate -- rollback --execute".',
  RefusedIrreversible:
    'The kept data may be removed: stay on the new version, or restore your own backups.',
  RefusedLockLost: 'Another invocation continues the run: follow it with "status".',
  // What was typed or configured.
  RefusedInput: 'Correct the fields that are named.',
  RefusedSetting: 'Set the named variable, parameter or option, then repeat the command.',
  RefusedSettingChanged:
    'Find out who changed it, put the expected name back, then repeat the command.',
  RefusedCredentials: 'Correct the key or its rights; a refused key is not tried again.',
  RefusedKeyOfOtherUser:
    'Supply an API key of the test user that the message names; a key of __migration_test_ID is for a run that begins with "--run ID".',
  RefusedPrerequisites:
    'Repair what the message names, or accept it with --accept, then repeat the command.',
  RefusedNameTaken: 'Choose another run id, or another --upload-as.',
  // What a service answered.
  RefusedBackendAnswer: 'Check that the URL is the memory backend, in the expected version.',
  RefusedByWebhook:
    'Repair the webhook, then repeat the command; or roll back with "rollback --execute".',
  RefusedByStore:
    'Repair what the vector store reports, or change its configuration or version, then repeat the command.',
  RefusedStoreFull: 'Free or add space on the vector store, then repeat the command.',
  RefusedGraph: 'Repair what the message says about the graph, then repeat the command.',
  RefusedRetained: 'The artifact must be kept for longer: wait for the day that is named.',
  // What a proof found.
  RefusedSnapshot:
    'Look at the log and the free space of the vector store, then repeat the command: it begins with a new snapshot.',
  RefusedMissingArtifact:
    'An artifact was removed or is not complete: repeat the step that makes it.',
  RefusedMissingModel:
    'Put what the message names into the image of the new version, restart it, then repeat the command.',
  RefusedOtherVectors:
    'Give the new version the embedding model, dimension and distance of the old one, restart it, then repeat the command.',
  RefusedNewVersion:
    'Look at the log of the new version, repair and restart it, then repeat the command; inside the window, roll back.',
  RefusedStillNewVersion:
    'Deploy the old version on the collection that the message names, then repeat the command; until then writes stay frozen.',
  RefusedVerification:
    'Copy again, which repairs every difference; after the switch, roll back. Do not continue while something differs.',
  RefusedNotFrozen: 'Stop every writer, then repeat the command, or roll back.',
  RefusedSourceChanged:
    'Somebody wrote inside the window: stop them, then give the command that "status" shows; in phase "switching", roll back.',
  RefusedMassChange:
    'Repair the other collection, then repeat the command; or add --deletes N where users did that; a rollback may also leave later writes behind with --as-it-was.',
  RefusedLossNotAcknowledged:
    'To leave that many behind, add --acknowledged-loss and that number; until then users stay on the new version.',
  RefusedNothingToReturnTo:
    'First restore what is named, as docs/migration.md shows, then roll back again; where no rollback has begun, you may stay on the new version.',
  RefusedUnrecordable:
    'This is a defect of the migration: report it with the message. The run is where "status" shows.',
} as const;

export type RefusalName = keyof typeof REMEDIES;

export function isRefusalName(name: string): name is RefusalName {
  return Object.hasOwn(REMEDIES, name);
}

/** The machine will not do it, and trying again changes nothing; the message ends with the remedy. */
export class Refusal extends Error {
  override readonly name: RefusalName;
  readonly why: string;
  readonly remedy: string;
  /** The HTTP status or the error code that the service answered with. */
  readonly answer: number | string | undefined;

  /** @param why one sentence about this case; never a secret, a user's id or memory text */
  constructor(name: RefusalName, why: string, options: ServiceErrorOptions = {}) {
    super(`${why} ${REMEDIES[name]}`, options);
    this.name = name;
    this.why = why;
    this.remedy = REMEDIES[name];
    this.answer = options.answer;
  }
}

interface ServiceErrorOptions extends ErrorOptions {
  readonly answer?: number | string;
}

/** Whether a service answered with this status or error code, and so refused. */
export function isRefusedWith(error: unknown, answer: number | string): boolean {
  return error instanceof Refusal && error.answer === answer;
}

export function isRefusal(error: unknown, name: RefusalName): boolean {
  return error instanceof Refusal && error.name === name;
}

/** For a rejection that may be an expected answer: takes it as that value, and throws any other. */
export function takeAs<Value>(value: Value, isExpected: (failure: unknown) => boolean) {
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

/** A service did not answer, or asked to be left alone for a while: the same call may succeed later. */
export class RetryableFailure extends Error {
  override readonly name: RetryableName;
  /** How long the service asked to be left alone. */
  readonly retryAfterSeconds: number | undefined;
  /** The HTTP status; undefined where no answer arrived, so that the request may have been carried out. */
  readonly answer: number | string | undefined;

  constructor(
    name: RetryableName,
    why: string,
    options: ServiceErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    super(why, options);
    this.name = name;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.answer = options.answer;
  }
}

export function isRetryableFailure(error: unknown): boolean {
  return error instanceof RetryableFailure;
}

/** Whether another step works on the run; if that step crashed, its lock expires. */
export function isLockHeld(error: unknown): boolean {
  return error instanceof RetryableFailure && error.name === 'RetryableLockHeld';
}
