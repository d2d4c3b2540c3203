// npm run restore-graph: brings a dump of the graph, which a backup has made, into the empty graph that NEO4J_URL names.
// Exit codes as of npm run migrate.
import { Refusal } from '../lib/migration/refusals.ts';
import { translateFailure } from '../lib/migration/runs/translate-failure.ts';
import { restoreFromEnvironment } from '../lib/migration/services-from-environment.ts';
import { EXIT, type ExitCode, failureAsJson } from './migrate/telling.ts';
import { WrongUseError } from './migrate/typed-values.ts';
import { carryOut } from './restore-graph/carry-out.ts';
import { readOrder, USAGE } from './restore-graph/read-order.ts';
import { answerAsText, exitCodeOf } from './restore-graph/telling.ts';

const words = process.argv.slice(2);
const isForMachines = words.includes('--json');
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    console.error('Interrupted: the same command goes on from there.');
    process.exit(EXIT.failed);
  });
}

process.exit(await restore());

async function restore(): Promise<ExitCode> {
  try {
    const order = readOrder(words);
    if (order === 'help') {
      console.log(USAGE);
      return EXIT.done;
    }
    const { artifacts, target } = await restoreFromEnvironment(process.env);
    await using _ = target;
    const answer = await carryOut(order, { artifacts, target });
    const exitCode = exitCodeOf(answer);
    console.log(isForMachines ? JSON.stringify({ exitCode, ...answer }) : answerAsText(answer));
    return exitCode;
  } catch (error) {
    return tellFailure(translateFailure(error));
  }
}

function tellFailure(cause: unknown): ExitCode {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const isWrongUse = error instanceof WrongUseError;
  const refusedOrFailed = error instanceof Refusal ? EXIT.refused : EXIT.failed;
  const exitCode = isWrongUse ? EXIT.wrongUse : refusedOrFailed;
  if (isForMachines) console.log(failureAsJson(error, exitCode));
  else console.error(`${error.name}: ${error.message}`);
  if (isWrongUse && !isForMachines) console.error('See npm run restore-graph -- --help');
  return exitCode;
}
