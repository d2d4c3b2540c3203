// Keeps the worker process of one run of Vitest for the next runs, because starting Node and loading the packages again takes
// longer than most tests. To Vitest, each run seems to start and stop its own worker.
import { join } from 'node:path';
import { ForksPoolWorker, type PoolOptions, type WorkerRequest } from 'vitest/node';

type Listener = Parameters<ForksPoolWorker['on']>;

export class LastingWorker extends ForksPoolWorker {
  runs = 0;
  readonly #project: PoolOptions['project'];
  readonly #listeners: Listener[] = [];
  #state: 'ended' | 'busy' | 'idle' = 'ended';

  constructor(options: PoolOptions) {
    const hooks = join(options.project.config.root, 'tests/shared/mutants/module-versions.ts');
    super({ ...options, execArgv: [...options.execArgv, '--import', hooks] });
    this.#project = options.project;
  }

  canRun(project: PoolOptions['project']): boolean {
    return this.#state === 'idle' && this.#project === project;
  }

  override on(...listener: Listener): void {
    this.#listeners.push(listener);
    super.on(...listener);
  }

  override async start(): Promise<void> {
    if (this.#state === 'idle') return;
    await super.start();
    this.#state = 'busy';
    super.on('exit', () => {
      this.#state = 'ended';
    });
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'start' && this.#state === 'idle') {
      this.#state = 'busy';
      this.#answer('started');
    } else if (message.type === 'stop') {
      this.#state = 'idle';
      this.#answer('stopped');
    } else super.send(message);
  }

  /** Ends a run. A process that was not asked to stop has failed, or still runs a test. */
  override async stop(): Promise<void> {
    this.runs += 1;
    for (const listener of this.#listeners.splice(0)) this.off(...listener);
    if (this.#state === 'busy') await this.end();
  }

  async end(): Promise<void> {
    if (this.#state !== 'ended') await super.stop();
  }

  #answer(type: 'started' | 'stopped'): void {
    for (const [event, listen] of this.#listeners) {
      if (event === 'message') listen({ __vitest_worker_response__: true, type });
    }
  }
}
