// What a resumable step needs from the code that runs it.

export interface StepPorts<Checkpoint> {
  /** Stores it durably. Called after the work that it reports. */
  readonly saveCheckpoint: (checkpoint: Checkpoint) => Promise<void>;
  /** Renews the lock. Called immediately before every write; throws when another invocation has taken over. */
  readonly renew?: () => Promise<void>;
  /** True when it is time to stop and be invoked again. Asked after every page. */
  readonly isTimeUp?: () => boolean;
}
