// Runs a program, and forwards connections from a socket to the port on which it listens:
// bridge.ts <socket> <port> <program> <arguments>. It ends when the program ends, with the same exit code or signal.
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
  // One side of a connection is useless without the other.
  incoming.on('error', () => outgoing.destroy()).on('close', () => outgoing.destroy());
  outgoing.on('error', () => incoming.destroy()).on('close', () => incoming.destroy());
  incoming.pipe(outgoing).pipe(incoming);
});
server.listen(socket);
