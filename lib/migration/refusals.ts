// Every refusal and every retryable failure of a migration, with what to do about it.
// The names are literal: they survive minification, the state machine matches on them, the guide lists them.

export const REMEDIES = {
  RefusedUnknownRun:
    'Begin one with "npm run migrate -- run --source COLLECTION", give the id that "status" shows, or name the right table with TABLE_NAME and DYNAMODB_ENDPOINT.',
  RefusedRunExists: 'Choose another run id, or go on with this run: "status" shows its next step.',
  RefusedOtherRun:
    'Finish that run, or give it up with "abandon" or "rollback"; then start this one.',
  RefusedStaleEpoch:
    'Nothing more was done here: another invocation has taken the run over; follow that one with "status".',
  RefusedTooEarly: 'Do the step that comes next, which "status" shows.',
  RefusedTooLate: 'The run is past this step; "status" shows what may be done now.',
  RefusedRunEnded: 'Nothing more can be done with this run; start a new one under another id.',
  RefusedIrreversible:
    'The retained data may be gone; go forward, or restore from your own backups.',
  RefusedNothingToReturn: 'Users still work on the old version; to give the run up, use "abandon".',
  RefusedNotReturning:
    'Only a return that has begun is called off with "stay": "status" shows what may be done now.',
  RefusedNoStay: 'Go on with "rollback": it ends with users working on the old version.',
  RefusedWindowOpen: 'Writes may be frozen: go back with "rollback", which opens them again.',
  RefusedActor: 'An operator has to do this: "npm run migrate -- status" shows the command.',
  RefusedMissingEvidence: 'Do the step that produces it again.',
  RefusedNotAsked: 'Take the step again: it says what it waits for, and only that may be approved.',
  RefusedMissingApproval: 'Look at the evidence, then approve it with "approve".',
  RefusedExpiredApproval: 'Look at the evidence again and approve it anew with "approve".',
  RefusedOtherEvidence:
    'What was approved has been replaced: look at the new evidence and approve that.',
  RefusedApprovalForm:
    'Give the gate, the digest of the evidence shown, a name and a time to come.',
  RefusedDeadlinePassed: 'The window is over: go back with "rollback" and plan another one.',
  RefusedInput: 'Correct what is named of the input.',
  RefusedSetting: 'Set the named variable or parameter, then invoke the step again.',
  RefusedSettingChanged:
    'Somebody else changed the collection-name setting: find out who and why before going on.',
  RefusedUnrecordable:
    'Only digests and references belong into the record; put the data into an artifact.',
  RefusedCredentials: 'Correct the key or its rights; a refused key is not tried again.',
  RefusedKeyOfOtherUser:
    'Supply an API key that maps to the test user generated for this run, as the message names it.',
  RefusedBackendAnswer:
    'Check that the URL is the memory backend and its version the expected one.',
  RefusedByWebhook: 'See why your webhook refuses; then invoke the step again, or roll back.',
  RefusedByStore:
    'Look at what the store says; if it cannot do this, change its configuration or version.',
  RefusedStoreFull: 'Free or add space on the store, then invoke the step again.',
  RefusedMissingArtifact:
    'The artifact was removed or never completed: take the step that makes it again, which begins anew.',
  RefusedRetained: 'It has to be kept for longer; wait for the day that is named.',
  RefusedSnapshot:
    'Look at the log of the store, and at its free space; then take the step again, which begins with a new snapshot.',
  RefusedBackupUnproved:
    'The backup cannot be relied on: do it again, and do not go on until its drill succeeds.',
  RefusedSemanticOnly:
    'Hybrid search would be off without a word: put fastembed and its model into the image, restart it, rebuild.',
  RefusedNoLanguageModel:
    'Entities would never be found: put spaCy and en_core_web_sm into the image, restart it, rebuild.',
  RefusedOtherVectors:
    'Give the new version the embedding model, dimension and distance of the old one, restart it, rebuild.',
  RefusedWarmUp: 'See in the log of the new version why it remembers nothing, restart it, rebuild.',
  RefusedKeywordGaps:
    'Copied memories would rank below new ones: use a store that makes keyword vectors (1.15.3 or later), or start a run that accepts "empty-keywords".',
  RefusedVerification:
    'Copy again, which brings over whatever differs; then verify again. Do not go on without a pass.',
  RefusedNotFrozen:
    'Stop every writer, then take the step again; "rollback" leads out of the window, "stay" out of a return.',
  RefusedSourceChanged:
    'Somebody has written inside the window: stop them, then take "backup", "copy" and "verify" again, or roll back.',
  RefusedUpload:
    'What was half-made is removed again: look at the log of the store, and at its free space; then take the step again, or roll back.',
  RefusedSmokeTest: 'Roll back; then see in the log of the new version what failed.',
  RefusedCountsDiffer:
    'Before the switch, copy and verify again; after it, roll back. The user-counts of the backup hold what was recorded.',
  RefusedLossNotAcknowledged:
    'Look at the number and its export; to lose them knowingly, roll back with exactly that number; "stay" calls a return off that has begun.',
  RefusedNothingToReturnTo:
    'Neither the old collection nor a usable snapshot is there: bring back what is named, or stay on the new version; an operator may finish a cutover that has begun, even late.',
  RefusedPrerequisites:
    'Repair each of them, or accept it with --accept, then give the same command again.',
  RefusedTarget:
    'Choose another run id, or another name to upload as: the names of a run are its own and must be free.',
  RefusedUnhealthyStore: 'Wait for, or repair, the collection until the store calls it healthy.',
  RefusedGraphTarget:
    'Name an empty graph with NEO4J_URL, that nobody works on: a restore writes over nothing.',
  RefusedGraph: 'Set right what is said of the graph; its dump is not complete until then.',
  RefusedUnconfirmed: 'Nothing was done: type the id of the run, or give "--yes".',
  RefusedNoFunction:
    'Check "--stage", AWS_REGION and AWS_PROFILE; a stage that has no migration yet has to be deployed first.',
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

export const RETRYABLE_FAILURES = ['RetryableUnavailable', 'RetryableStepRunning'] as const;

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
