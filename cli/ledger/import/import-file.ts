// Previews the import of a file, and runs it with --yes.
import { basename } from 'node:path';
import { listImportIds, makeImportId } from '../../../lib/ledger/import/import-id.ts';
import type { LayoutOptions } from '../../../lib/ledger/import/layouts.ts';
import type { ImportPlan } from '../../../lib/ledger/import/plan.ts';
import {
  type CategorisedPlan,
  type CategoryOptions,
  planWithCategories,
} from '../../../lib/ledger/import/plan-with-categories.ts';
import { createRecorder, resolvePendingRecords } from '../../../lib/ledger/import/recorded-rows.ts';
import { type Statement, splitTrailer } from '../../../lib/ledger/import/statement.ts';
import type { StatementRow } from '../../../lib/ledger/import/transaction-row.ts';
import { EXIT } from '../../../processes/program.ts';
import { withProgressBar } from '../../progress.ts';
import type { ServiceClient } from '../service-client.ts';
import { readRules, showChoices, showInactive } from './categorise.ts';
import { openLayoutFile } from './layout-file.ts';
import { readLedger } from './ledger-rows.ts';
import { type Options, readOptions } from './options.ts';
import {
  describeOptions,
  print,
  showPlan,
  showQuestions,
  showRefused,
  showStatement,
} from './preview.ts';
import { readBytes, readFile } from './read-file.ts';
import { readRecordedImports, writePart } from './recorded-imports.ts';
import { applyChanges, upload } from './upload.ts';

export async function importFile(
  openService: () => Promise<ServiceClient>,
  file: string,
  options: Options,
): Promise<void> {
  const bytes = readBytes(file);
  const layouts = openLayoutFile(options.layouts);
  const statementOptions = readOptions(options);
  // Without remembered layouts the file is read first, so that an unreadable file is reported even if no service is running.
  const earlyStatement = layouts.isEmpty
    ? await readFile(file, bytes, statementOptions)
    : undefined;
  if (
    earlyStatement &&
    earlyStatement.rows.length + earlyStatement.refused.length + earlyStatement.leftOut.length === 0
  )
    return console.log('The file has no rows: nothing to import.');
  const service = await openService();
  const ledger = `${service.url} ${(await service.call<'identifyCaller'>('GET', '/me')).ledger}`;
  const statement =
    earlyStatement ??
    (await readFile(file, bytes, { ...statementOptions, layouts: layouts.read(ledger) }));
  const storeLayout = (layout: LayoutOptions | undefined) =>
    statement.layout && layouts.write(ledger, statement.layout.key, layout);
  if (options.forget) {
    storeLayout(undefined);
    return console.log('The layout is forgotten. Nothing was sent.');
  }
  const split = splitTrailer(statement, options.trailer);
  const hasRun = await importStatement(service, {
    file,
    options,
    statement: { ...statement, ...split },
  });
  const { used = {}, recalled = null } = statement.layout ?? {};
  if (!hasRun || Object.keys(used).length === 0) return;
  storeLayout(used);
  if (JSON.stringify(used) !== JSON.stringify(recalled))
    print(
      `remembered in ${options.layouts} for files of this layout (--forget): ${describeOptions(used)}`,
    );
}

interface ImportRequest {
  readonly file: string;
  readonly statement: Statement & ReturnType<typeof splitTrailer>;
  readonly options: Options;
}

/**
 * Previews the import, and runs it if the options confirm it.
 * @returns true if the import ran, even if the ledger already had every row
 */
async function importStatement(service: ServiceClient, request: ImportRequest): Promise<boolean> {
  const { statement, options } = request;
  const { account } = readOptions(options);
  const categories = await service.readCategories();
  // The records must be read before the rows; `resolvePendingRecords` says why.
  const imports = await readRecordedImports(service);
  const storedData = { imports, rows: await readLedger(service), categories };
  const categorisedPlan = planWithCategories(statement, storedData, {
    ...readCategoryOptions(options),
    importsDeleted: options.importDeleted === true,
    account,
    isAccountKnown: account !== undefined || options.asItIs === true,
  });
  const { plan } = categorisedPlan;
  showPreview(request, categorisedPlan, new Set(categories.map(({ name }) => name)));
  const questions = [...statement.questions, ...plan.questions];
  const refusedInPreviewCount = statement.refused.length + plan.refused.length;
  if (refusedInPreviewCount + questions.length > 0) process.exitCode = EXIT.failed;
  if (!options.yes) console.log(`Nothing was sent. ${explainConfirmation(request.file)}`);
  else if (questions.length > 0) console.error('Nothing was imported.');
  else if (requiresChoice(plan, options)) {
    console.error(
      'Nothing was imported. Leave possible duplicates out with --skip-duplicates, or import them with --import-duplicates.',
    );
    process.exitCode = EXIT.failed;
  } else {
    await resolvePendingRecords(storedData, {
      readParts: () => readRecordedImports(service),
      writePart: (part) => writePart(service, part),
    });
    const importId = makeImportId(basename(request.file), listImportIds(storedData.rows, imports));
    await runImport(service, plan, { importId, options, refusedInPreviewCount });
    return true;
  }
  return false;
}

function showPreview(
  { statement, options }: ImportRequest,
  { rows, plan, choices, names }: CategorisedPlan,
  knownNames: ReadonlySet<string>,
): void {
  showStatement({ ...statement, rows });
  showPlan(plan, knownNames);
  showChoices(choices, ({ line }) => `line ${line}`);
  showInactive(plan.missing, names);
  const refused = [...statement.refused, ...plan.refused];
  showRefused(refused);
  const { length } = statement.trailer;
  if (options.trailer) console.log(`left out after the rows: ${length} lines`);
  else if (length > 0 && length === refused.length)
    console.error(`If every export from this bank ends with these lines, add --trailer ${length}.`);
  showQuestions([...statement.questions, ...plan.questions]);
}

export function readCategoryOptions({ categories, rules }: Options): CategoryOptions {
  return { isLearning: categories, rules: readRules(rules) };
}

function requiresChoice({ possibleDuplicates }: ImportPlan, options: Options): boolean {
  const { skipDuplicates, importDuplicates } = options;
  return possibleDuplicates.length > 0 && !skipDuplicates && !importDuplicates;
}

async function runImport(
  service: ServiceClient,
  plan: ImportPlan,
  { importId, options, refusedInPreviewCount }: Pick<ImportRequest, 'options'> & NewImport,
): Promise<void> {
  const { changes, missing, possibleDuplicates } = plan;
  const skippedRows = new Set<StatementRow>(
    options.skipDuplicates ? possibleDuplicates.map(({ row }) => row) : [],
  );
  const rows = missing.filter((row) => !skippedRows.has(row));
  const total = rows.length;
  const recorder = createRecorder(
    { importId, total, account: readOptions(options).account },
    (part) => writePart(service, part),
  );
  const uploadResult = await withProgressBar(total, (onProgress) =>
    upload(service, { rows, importId, recorder }, onProgress),
  );
  const updateResult = options.update
    ? await withProgressBar(changes.length, (onProgress) =>
        applyChanges(service, changes, onProgress),
      )
    : undefined;
  const refused = [...uploadResult.refused, ...(updateResult?.refused ?? [])];
  showRefused(refused);
  if (skippedRows.size > 0) console.log(`possible duplicates left out: ${skippedRows.size}`);
  showUnapplied(plan, updateResult?.changed);
  if (uploadResult.created > 0) console.log(`import ${importId}: --undo ${importId} removes it`);
  console.log(
    `${uploadResult.created} created, ${plan.present + uploadResult.duplicates} already existed, ${refused.length + refusedInPreviewCount} refused`,
  );
  if (refused.length > 0) process.exitCode = EXIT.failed;
}

interface NewImport {
  readonly importId: string;
  readonly refusedInPreviewCount: number;
}

/**
 * Reports differences that were not applied. The exit code is 0 only if the ledger agrees with the file, or an option allows
 * the difference.
 */
function showUnapplied({ deleted, changes }: ImportPlan, changed: number | undefined): void {
  if (deleted.length > 0) {
    console.log(`deleted in the ledger: ${deleted.length}. Add --import-deleted to import them.`);
    process.exitCode = EXIT.failed;
  }
  if (changed !== undefined) console.log(`${changed} changed`);
  else if (changes.length > 0) {
    console.log(`changes not applied: ${changes.length}. Add --update to apply them.`);
    process.exitCode = EXIT.failed;
  }
}

/** Says how to confirm. npm consumes an option before `--` itself, and passes it on only as an environment variable. */
function explainConfirmation(file: string): string {
  const quotedFile = /[^\w./-]/.test(file) ? `'${file}'` : file;
  return process.env.npm_config_yes === 'true'
    ? `npm took --yes for itself. To import: npm run import -- ${quotedFile} --yes`
    : 'Add --yes to import.';
}
