// What is worth reading of the gateway's output: the requests, and what the handlers log.
export interface GatewayLog {
  hear(line: string): void;
  /** Resolves when the gateway has the port. */
  readonly listening: Promise<void>;
  /** Whether it found the port taken. */
  portTaken(): boolean;
  /** From now on lines are shown; until then they are only kept in mind. */
  openUp(): void;
  /** The line that most likely tells why the gateway failed. */
  lastError(): string;
}

// Around each request the framework prints blank lines and the times of the function.
const NOISE = /^\s*$|^\(λ: /;
const ERROR = /error|✖|cannot/i;
const READY = /^Server ready: /;
const HEADING = /^Error:$/;
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

export function createGatewayLog(show: (line: string) => void): GatewayLog {
  const { promise: listening, resolve: nowListening } = Promise.withResolvers<void>();
  let open = false;
  let portTaken = false;
  let lastLine = '';
  let lastError = '';

  return {
    listening,
    portTaken: () => portTaken,
    hear(coloured) {
      const line = coloured.replace(COLOURS, '');
      if (NOISE.test(line)) return;
      if (READY.test(line)) nowListening();
      portTaken ||= /EADDRINUSE/.test(line);
      if (open) show(line.replace(/ \(λ: (\w+)\)$/, ' -> $1'));
      // The framework's own errors are a heading with the sentence on the next line.
      if (ERROR.test(line) || HEADING.test(lastLine)) lastError = line.trim();
      lastLine = line.trim();
    },
    openUp() {
      open = true;
    },
    lastError: () => lastError || lastLine,
  };
}
