// Every refusal and every retryable failure of a migration, with what to do about it.
// The names are literal: they survive minification, the state machine matches on them, the guide lists them.

export const REMEDIES = {
  RefusedUnknownRun: 'Begin one with "start", or give the id that "status" shows.',
  RefusedRunExists: 'Choose another run id, or go on with this run: "status" shows its next step.',
  RefusedOtherRun:
    'Finish that run, or give it up with "abandon" or "rollback"; then start this one.',
  RefusedStaleEpoch:
    'Nothing more was done here: another invocation has taken the run over; follow that one with "status".',
  RefusedTooEarly: 'Do the step that comes next, which "status" shows.',
  RefusedTooLate: 'The run is past this step; "status" shows what may be done now.',
  RefusedRunEnded: 'Nothing more can be done with this run; start a new one.',
  RefusedIrreversible:
    'The retained data may be gone; go forward, or restore from your own backups.',
  RefusedNothingToReturn: 'Users still work on the old version; to give the run up, use "abandon".',
  RefusedWindowOpen: 'Writes may be frozen: go back with "rollback", which opens them again.',
  RefusedActor: 'An operator has to do this: "npm run migrate -- status" shows the command.',
  RefusedMissingEvidence: 'Do the step that produces it again.',
  RefusedMissingApproval: 'Look at the evidence, then approve it with "approve".',
  RefusedExpiredApproval: 'Look at the evidence again and approve it anew with "approve".',
  RefusedOtherEvidence:
    'What was approved has been replaced: look at the new evidence and approve that.',
  RefusedApprovalForm:
    'Give the gate, the digest of the evidence shown, a name and a time to come.',
  RefusedDeadlinePassed: 'The window is over: go back with "rollback" and plan another one.',
  RefusedConfirmation:
    'To do it rather than to try it, repeat the run id: execute true, confirm <run id>.',
  RefusedInput: 'Correct the named field of the input.',
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
  RefusedPreflight: 'Remove each obstacle of the report, then run "preflight" again.',
} as const;

export type RefusalName = keyof typeof REMEDIES;

/** The machine will not do it, and trying again changes nothing; the message ends with the remedy. */
export class Refusal extends Error {
  override readonly name: RefusalName;
  readonly remedy: string;

  /** @param why one sentence about this case; never a secret, a user's id or memory text */
  constructor(name: RefusalName, why: string, options?: ErrorOptions) {
    super(`${why} ${REMEDIES[name]}`, options);
    this.name = name;
    this.remedy = REMEDIES[name];
  }
}

export const RETRYABLE_FAILURES = ['RetryableUnavailable', 'RetryableStepRunning'] as const;

export type RetryableName = (typeof RETRYABLE_FAILURES)[number];

/** A service did not answer, or asked to be left alone for a while: the same call may succeed later. */
export class RetryableFailure extends Error {
  override readonly name: RetryableName;
  /** How long the service asked to be left alone. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    name: RetryableName,
    why: string,
    options: ErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    super(why, options);
    this.name = name;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
