// What a resumable step asks of whoever runs it.

export interface StepPorts<Checkpoint> {
  /** Keeps it durably. Called after what it tells of is. */
  readonly saveCheckpoint: (checkpoint: Checkpoint) => Promise<void>;
  /** Called before every write; throws when another invocation has taken over. */
  readonly assertTurn?: () => Promise<void>;
  /** True when it is time to stop and be invoked again. Asked after every page. */
  readonly isTimeUp?: () => boolean;
}
