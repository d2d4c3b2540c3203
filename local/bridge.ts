// Runs a program, and forwards connections from a socket to the port on which the program listens. Ends when the program ends,
// with the same exit code or signal.
// Usage: bridge.ts <socket> <port> <program> <arguments>
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const [socket, port, command = '', ...args] = process.argv.slice(2);
const program = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
program.on('error', ({ message }) => {
  console.error(message);
  process.exit(1);
});
program.on('exit', (code, signal) => {
  if (signal) process.kill(process.pid, signal);
  else process.exit(code ?? 1);
});

const server = createServer((incoming) => {
  const outgoing = connect({ host: '127.0.0.1', port: Number(port), noDelay: true });
  // When one side of a connection closes, the other side is useless.
  incoming.on('error', () => outgoing.destroy()).on('close', () => outgoing.destroy());
  outgoing.on('error', () => incoming.destroy()).on('close', () => incoming.destroy());
  incoming.pipe(outgoing).pipe(incoming);
});
server.listen(socket);
