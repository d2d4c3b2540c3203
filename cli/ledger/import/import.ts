// npm run import: adds a bank's file or an export to a ledger, through the API of a running or deployed service, and undoes an
// import.
import { USER_AGENTS } from '../../../local/user-agents.ts';
import { runProgram } from '../../../processes/program.ts';
import { readStageAddress } from '../../stage-address.ts';
import { createServiceClient, PATIENT_POLICY } from '../service-client.ts';
import { categoriseLedger } from './categorise.ts';
import { importFile, readCategoryOptions } from './import-file.ts';
import { command, type Options, refuseUnusedOptions } from './options.ts';
import { listImports, undoImport } from './undo.ts';

await runProgram(command.action(runImportCommand));

async function runImportCommand(file: string | undefined, options: Options): Promise<void> {
  const { list, undo, categorise, yes = false } = options;
  refuseUnusedOptions();
  const takesNoFile = list || categorise || undo !== undefined;
  if (undo === '') command.error('error: --undo takes the id of an import; --list shows them.');
  if (takesNoFile === (file !== undefined))
    command.error(
      takesNoFile
        ? `error: ${list ? '--list' : categorise ? '--categorise' : '--undo'} takes no file.`
        : 'error: Name a file to import, or use --list, --undo <id> or --categorise.',
    );
  const openService = async () => {
    const url = options.stage ? await readStageAddress(options.stage) : options.url;
    const key = process.env.API_KEY || undefined;
    const retryPolicy = { ...PATIENT_POLICY, onRetry: explainWait };
    return createServiceClient({ url, key, userAgent: USER_AGENTS.import, retryPolicy });
  };
  if (file !== undefined) return importFile(openService, file, options);
  const categoryOptions = readCategoryOptions(options);
  const service = await openService();
  if (categorise) await categoriseLedger(service, { ...categoryOptions, isConfirmed: yes });
  else if (undo === undefined) await listImports(service);
  else await undoImport(service, undo, { isConfirmed: yes });
}

/** Explains a pause before a retry, so that the command does not seem to hang. */
function explainWait(error: unknown): void {
  const { status } = error as { status?: number };
  const reason = status === undefined ? 'Nothing answers' : `The service answered ${status}`;
  console.error(`${reason}: trying again in a moment`);
}
