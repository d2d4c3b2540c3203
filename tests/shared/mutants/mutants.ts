// One-line changes that each break a rule, and the test file that must fail for them: `npm run test:mutants`.

export interface Mutant {
  readonly file: string;
  /** Source text that occurs exactly once in the file */
  readonly search: string;
  readonly replacement: string;
  /** Test file that must fail on the mutant, and pass on the original */
  readonly test: string;
  /** Full name of the only test that is run, if the tests before it in the file would take seconds */
  readonly testName?: string | undefined;
}

/** Returns the mutated source of the mutant's file. The replacement is literal: `$` has no meaning in it. */
export function applyMutant(source: string, { search, replacement }: Mutant): string {
  return source.replace(search, () => replacement);
}

/** Lists mutants of one file that the same test file must kill. */
function mutantsOf(
  file: string,
  test: string,
  changes: readonly (readonly [search: string, replacement: string, testName?: string])[],
): Mutant[] {
  return changes.map(([search, replacement, testName]) => ({
    ...{ file, search, replacement },
    ...{ test, testName },
  }));
}

/** Removes a safeguard of the checked model from the code: the play named after the safeguard must fail. */
function withoutSafeguard(
  name: string,
  file: string,
  [search, replacement]: readonly [search: string, replacement: string],
): Mutant[] {
  const test = 'tests/migration/property/random-plays.test.ts';
  const testName = `a play for the safeguard > ${name}`;
  return mutantsOf(`lib/migration/${file}`, test, [[search, replacement, testName]]);
}

const COPY_IS_RIGHT =
  'has the rows of the ledger whenever it exits with 0, whatever happens between its requests';
const NO_DIGEST = 'copies months without a digest each time, and exits with 1';
const loopTest = (language: string, test: string) =>
  `the synchronisation loop in ${language} > ${test}`;

export const MUTANTS: readonly Mutant[] = [
  // Loops that clients copy from the guide.
  ...mutantsOf('docs/ledger/clients.md', 'tests/ledger/property/catching-up.test.ts', [
    [
      'if (part.digest === digest) copy.months',
      'copy.months',
      loopTest('typescript', COPY_IS_RIGHT),
    ],
    ['if (part.digest !== digest || digest', 'if (digest', loopTest('typescript', COPY_IS_RIGHT)],
    [
      'if (!data.some((row: any) => row.month === month)) delete copy.months[month];',
      ';',
      loopTest('typescript', 'deletes a month that has no transactions left'),
    ],
    ['months[month] is None or ', '', loopTest('python', NO_DIGEST)],
    ['!row.digest || row.digest !==', 'row.digest !==', loopTest('typescript', NO_DIGEST)],
    ['if part["digest"] == months[month]: copy', 'copy', loopTest('python', COPY_IS_RIGHT)],
  ]),
  // Two requests that change the same record.
  ...mutantsOf('lib/ledger/store/categories.ts', 'tests/ledger/contract/races.test.ts', [
    [
      '`${IS_UNUSED} AND ${IS_UNCHANGED}`',
      '`${IS_UNUSED} AND version >= :expected`',
      'a rename before a deactivation is kept',
    ],
    [
      'expression: IS_UNCHANGED,',
      "expression: 'version >= :expected',",
      'two concurrent updates do not undo each other: /categories',
    ],
    [
      'attribute_exists(pk) AND is_active = :yes',
      'attribute_exists(pk) AND is_active <> :no',
      'a category deactivated after the check accepts no transaction',
    ],
    [
      'TRANSACTION_COUNT} = :none',
      'TRANSACTION_COUNT} >= :none',
      'a category that gets a transaction after the check is not deleted',
    ],
    [
      "IS_NEW = 'attribute_not_exists(pk)'",
      "IS_NEW = 'attribute_not_exists(nothing)'",
      'a name that another client takes after the check is a 409 "Category name must be unique"',
    ],
  ]),
  ...mutantsOf('lib/ledger/store/transactions.ts', 'tests/ledger/contract/races.test.ts', [
    [
      "IS_UNCHANGED = 'version = :version'",
      "IS_UNCHANGED = 'version >= :version'",
      'two concurrent updates do not undo each other: /transactions',
    ],
  ]),
  ...mutantsOf(
    'lib/ledger/service/retry-on-conflict.ts',
    'tests/ledger/unit/service/retry-on-conflict.test.ts',
    [
      ['if (current === undefined) await', 'await'],
      ['current = error.current as Existing | undefined', 'current = undefined'],
    ],
  ),

  // Retries and lost responses.
  ...mutantsOf('lib/shared/database.ts', 'tests/shared/unit/database.test.ts', [
    ['ClientRequestToken: randomUUID(),', ''],
    ['{ ...range, projection: undefined }', 'range'],
    ['mayBeApplied ||= isOutcomeUnknown(error);', ''],
    [', timeout])', '])'],
    ['while (from && items.length < limit)', 'while (from && items.length > limit)'],
    [
      'query(\n    range: Range,\n    limit = Number.POSITIVE_INFINITY',
      'query(\n    range: Range,\n    limit = 1',
    ],
  ]),
  ...mutantsOf('lib/shared/document-client.ts', 'tests/shared/unit/document-client.test.ts', [
    ['convertToNative(value, READ_NUMBERS)', 'convertToNative(value)'],
    [
      '{ debug: ignore, warn: ignore, error: ignore }',
      '{ info: ignore, debug: ignore, warn: ignore, error: ignore }',
    ],
  ]),
  ...mutantsOf('lib/shared/retryable-errors.ts', 'tests/shared/unit/retryable-errors.test.ts', [
    ['codes.every(', 'codes.some('],
    ['E(?!RR_)', 'E'],
    ['status >= 500', 'status > 500'],
  ]),
  ...mutantsOf('lib/shared/retry.ts', 'tests/shared/unit/retry.test.ts', [
    ['policy.now() + delay > deadline', 'policy.now() > deadline'],
    ['Math.min(maxDelayMs, firstDelayMs', 'Math.max(maxDelayMs, firstDelayMs'],
  ]),

  ...mutantsOf('lib/shared/database.ts', 'tests/shared/unit/database.test.ts', [
    ['await reading.then(', 'await send({ abortSignal: limits.signal }).then('],
    ['throw findBusyError(writes, error) ?? error;', 'throw error;'],
    ["reasons[position]?.Code === 'TransactionConflict'", 'reasons[position] !== undefined'],
  ]),
  ...mutantsOf('lib/shared/retryable-errors.ts', 'tests/ledger/unit/http/error-reply.test.ts', [
    ['[BusyError, DeadlineExceededError, StaleRecordError]', '[DeadlineExceededError]'],
    ['if (CONTENTION_ERRORS.some((type) => error instanceof type)) return true;', ''],
  ]),

  // Responses recorded for an Idempotency-Key.
  ...mutantsOf(
    'lib/ledger/service/idempotency.ts',
    'tests/ledger/unit/service/idempotency.test.ts',
    [
      ['if (error instanceof ConflictError) throw failure;', ''],
      [' || error instanceof BusyError', ''],
      ['error instanceof RequestRepeatedError ||', ''],
    ],
  ),
  ...mutantsOf('lib/ledger/service/idempotency.ts', 'tests/ledger/unit/http/bulk.test.ts', [
    ['return reply ? { value: reply } : outcome;', 'return outcome;'],
    ['return { error };', 'return outcome;'],
  ]),
  ...mutantsOf('lib/ledger/service/idempotency.ts', 'tests/ledger/contract/bulk.test.ts', [
    [
      'await store.bind(hash(`${key} body`), fingerprint);',
      'fingerprint;',
      'POST /transactions/bulk > records the idempotency key even if the results are too large to be stored',
    ],
    [
      'hash(`${key} ${index}`)',
      'hash(`${key}`)',
      'POST /transactions/bulk > records the idempotency key even if the results are too large to be stored',
    ],
  ]),
  ...mutantsOf(
    'lib/ledger/service/idempotency.ts',
    'tests/ledger/contract/api/idempotency.test.ts',
    [
      ['if (fingerprint !== sentFingerprint) throw createKeyReusedError();', ''],
      ['.sort(([a], [b]) => (a < b ? -1 : 1))', ''],
    ],
  ),
  ...mutantsOf('lib/ledger/http/idempotency.ts', 'tests/ledger/contract/api/idempotency.test.ts', [
    [
      "path.replace(/\\/$/, '')",
      'path',
      'POST /transactions > gives a repetition the same response, even after the record was deleted',
    ],
  ]),
  // Generated documents.
  ...mutantsOf(
    'cli/describe/changelog.ts',
    'tests/shared/unit/cli/describe/new-endpoints.test.ts',
    [["heading.endsWith('Added\\n\\n')", 'true']],
  ),
  ...mutantsOf(
    'cli/describe/api-guide.ts',
    'tests/shared/unit/cli/describe/new-endpoints.test.ts',
    [['routes[index - 1]', 'routes[0]']],
  ),
  ...mutantsOf(
    'lib/ledger/http/endpoints/response-schemas.ts',
    'tests/shared/unit/cli/describe/openapi-document.test.ts',
    [['[namedSchema, ...listNamedSchemas(namedSchema[1])]', '[namedSchema]']],
  ),
  // Responses to bulk requests, and the keys of those requests.
  ...mutantsOf('lib/ledger/http/bulk.ts', 'tests/ledger/unit/http/bulk.test.ts', [
    ['if (isFinal) await', 'await'],
    ['status < 400 ?', 'status ?'],
    ['reply.status >= 500', 'reply.status > 500'],
    ["!isFinal && outcomes.every((outcome) => 'error' in outcome)", '!isFinal'],
  ]),
  ...mutantsOf('lib/ledger/store/idempotency.ts', 'tests/ledger/contract/bulk.test.ts', [
    [
      '`${IS_FREE} OR fingerprint = :fingerprint`',
      '`${IS_FREE} OR fingerprint <> :fingerprint`',
      'POST /transactions/bulk > records the idempotency key even if the results are too large to be stored',
    ],
  ]),
  // The records of imports and their cursors, and the ETag of the list of categories.
  ...mutantsOf('lib/ledger/store/imported-rows.ts', 'tests/ledger/contract/api/imports.test.ts', [
    ["text === '' ? {", 'false ? {'],
    ['if (previousRows === text) return;', 'if (previousRows !== text) return;'],
    [
      '.sk}\\0`',
      '.sk}`',
      '/imports > returns pages if the rows exceed the limit of one database call',
    ],
    [
      'next: end && parts.at(-1)',
      'next: undefined',
      '/imports > returns pages if the rows exceed the limit of one database call',
    ],
    [
      '.repeat(65)',
      '',
      '/imports > returns pages if the rows exceed the limit of one database call',
    ],
  ]),
  ...mutantsOf('lib/ledger/http/preconditions.ts', 'tests/ledger/contract/api/categories.test.ts', [
    [
      'JSON.stringify(reply.body)',
      "''",
      'GET /categories returns 304 until something that it shows changes',
    ],
  ]),
  ...mutantsOf('lib/ledger/http/cursor.ts', 'tests/ledger/contract/api/imports.test.ts', [
    [
      "encodeText(text) === cursor ? text : ''",
      'text',
      '/imports > refuses a cursor that no page returned: "MSBh!"',
    ],
    [
      '(.{1,64})$/u',
      '(.+)$/u',
      '/imports > refuses a cursor that no page returned: "MSBhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYQ"',
    ],
  ]),

  // Defences against hostile text and tokens.
  ...mutantsOf('lib/ledger/domain/money.ts', 'tests/ledger/property/linear-text.test.ts', [
    ['replace(/\\.00$|0$/', 'replace(/\\.?0+$/'],
  ]),
  ...mutantsOf('lib/ledger/auth/access-tokens.ts', 'tests/ledger/unit/auth/access-tokens.test.ts', [
    [' && sub.isWellFormed()', ''],
    ["typeof sub === 'string' && ", ''],
    ['modulusLength >= MIN_MODULUS_BITS', 'modulusLength > 0'],
    ["key.type !== 'public'", 'false'],
  ]),

  // A restore that is killed at any call, and the verification of all ledgers.
  ...mutantsOf('cli/restore/restoration.ts', 'tests/shared/unit/cli/restoration.test.ts', [
    ['if (functionTable === tableInUse) return;', 'return;'],
    ['(await isSwitched()) || (await step.isDone())', 'step.isDone()'],
    [
      "tableInUse === target && status === 'UPDATE_COMPLETE') return",
      'tableInUse === target) return',
    ],
    ['if (!(await isSwitched())) await aws', 'await aws'],
    ['if (unbalanced.length > 0) {', 'if (unbalanced.length > 1) {'],
    ['if (missing.length > 0) {', 'if (missing.length > 1) {'],
    ['if (verdict.unlisted.length > 0) {', 'if (verdict.unlisted.length > 2) {'],
    ['        await table.refuseUnrestorableTime();\n', ''],
    ['(error as Error).name !== RECOVERY_NOT_READY', 'true'],
  ]),
  ...mutantsOf(
    'lib/ledger/store/verification/balance.ts',
    'tests/ledger/contract/verification/drifts.test.ts',
    [
      [
        "if (externalId) sum += hashFigure('external id', externalId, id);",
        '',
        'an external id without its guard > is reported, and repaired',
      ],
      [
        "      sum += hashFigure('name', name, id);\n",
        '',
        'a day counted too high > is reported, and repaired',
      ],
      [
        'wrongRowCount === 0',
        'true',
        'a row in the index of the other type > is reported, and repaired',
      ],
      [
        'highestIds[kind] <= lastIds[kind]',
        'true',
        'a sequence behind the highest transacti… > is reported, and repaired',
      ],
      ['if (increment !== 0n) sum +=', 'if (increment > 0n) sum +='],
    ],
  ),
  // Deployments: the guard, the rollback by alarms, and the gradual release.
  ...mutantsOf('serverless/deploy-guard.ts', 'tests/shared/wiring/deploy-guard.test.ts', [
    ['ParameterValue === undefined ? [] :', 'ParameterValue !== undefined ? [] :'],
    ['this.#readActiveRun(tableInUse ?? this.#ownTable', 'this.#readActiveRun(this.#ownTable'],
  ]),

  ...mutantsOf('serverless/deploy-rollback.ts', 'tests/shared/wiring/deploy-guard.test.ts', [
    ['const triggers = hasNewAddress', 'const triggers = false'],
    ['watchedCount === stoppingAlarms.length', 'stoppingAlarms.length > 0'],
    [' &&\n    hasSameSchema', ''],
  ]),
  ...mutantsOf(
    'serverless/ledger/gradual-release.ts',
    'tests/ledger/wiring/gradual-release.test.ts',
    [
      ['  delete version.DeletionPolicy;\n', ''],
      ['name !== PAGE && ', ''],
      ['events.some(({ httpApi }) => httpApi)', 'events.length > 0'],
      ['if (earlierId !== undefined)', 'if (n < 0)'],
      ['For the table \\${TableInUse}', 'For the table in use'],
      [
        "UpdatePolicy: { 'Fn::If': ['IsGradual', gradualUpdate, { Ref: 'AWS::NoValue' }] }",
        'UpdatePolicy: gradualUpdate',
      ],
    ],
  ),

  // Command-line programs.
  ...mutantsOf('processes/program.ts', 'tests/shared/unit/processes/program.test.ts', [
    ["['log', 'warn', 'error'] as const", "['warn', 'error'] as const"],
  ]),

  // The table that a command works on.
  ...mutantsOf('cli/find-database.ts', 'tests/shared/unit/cli/find-database.test.ts', [
    ["readStackOutput(stage, 'TableName')", "readStackOutput(stage, 'LedgerTableName')"],
    ['environment.TABLE_NAME || (await', '(await'],
  ]),

  // Refusals that describe the record in conflict.
  ...mutantsOf('lib/ledger/domain/category.ts', 'tests/ledger/contract/api/categories.test.ts', [
    ['isActive ? exists : exists + inactive', 'exists'],
  ]),
  ...mutantsOf('lib/ledger/store/categories.ts', 'tests/ledger/contract/races.test.ts', [
    [
      'createNameRaceError(guard && Number(guard.category_id))',
      'createNameRaceError(undefined)',
      'a name that another client takes after the check is a 409 "Category name must be unique"',
    ],
  ]),
  ...mutantsOf(
    'lib/ledger/http/error-reply.ts',
    'tests/ledger/contract/api/preconditions.test.ts',
    [['headers: { etag: computeEtag(error.current) }', 'headers: {}']],
  ),
  ...mutantsOf('lib/ledger/http/bulk.ts', 'tests/ledger/contract/api/preconditions.test.ts', [
    [
      '...(etag && { etag })',
      '',
      'a 412, even in a bulk request, has the same ETag as a read of the transaction',
    ],
  ]),

  // A category_name without a category_id.
  ...mutantsOf('lib/ledger/http/transaction-json.ts', 'tests/ledger/contract/api/fields.test.ts', [
    [
      'input.category_name ?? undefined',
      'input.category_name',
      '/transactions > read-only fields are accepted and ignored',
    ],
  ]),
  ...mutantsOf(
    'lib/ledger/http/transaction-export.ts',
    'tests/ledger/contract/api/export.test.ts',
    [["...reply.headers, vary: 'accept'", '...reply.headers']],
  ),
  ...mutantsOf('lib/ledger/service/transactions.ts', 'tests/ledger/contract/api/fields.test.ts', [
    ['if (categoryName !== current.categoryName) throw', 'if (false) throw'],
    ['categoryName === undefined || categoryId !== undefined', 'categoryName === undefined'],
  ]),
  ...mutantsOf(
    'lib/ledger/service/many-transactions.ts',
    'tests/ledger/contract/api/fields.test.ts',
    [
      [
        'single.requireSameCategoryName(changes, value);',
        '',
        'a category_name > is refused on update if it names another category, and nothing is changed',
      ],
    ],
  ),
  ...mutantsOf('lib/ledger/http/transaction-json.ts', 'tests/ledger/contract/api/fields.test.ts', [
    ['hasOnlyCategoryName ? [', 'false ? ['],
  ]),

  // Many transactions in one request.
  ...mutantsOf('lib/ledger/service/bulk.ts', 'tests/ledger/contract/bulk.test.ts', [
    [
      'reapply && error instanceof StaleRecordError',
      'false',
      'PUT /transactions/bulk > applies a change even if another request changed the row first, unless it expects the previous version',
    ],
    [
      'largestPart = middlePart;',
      'excessiveCount = middlePart.count;',
      'POST /transactions/bulk > fills each database transaction up to its 100 writes',
    ],
    [
      'await apply(rows.slice(middle));',
      '',
      'PUT /transactions/bulk > refuses each invalid change separately',
    ],
  ]),
  ...mutantsOf('lib/ledger/service/many-transactions.ts', 'tests/ledger/contract/bulk.test.ts', [
    [
      'await requireExpectedVersion(before, isExpected);\n        const assignedCategory',
      'const assignedCategory',
      'PUT /transactions/bulk > refuses each invalid change separately',
    ],
    [
      'single.update(await single.find(String(id)), changes, isExpected, marker?.remember)',
      'single.update(before, changes)',
      'PUT /transactions/bulk > applies a change even if another request changed the row first, unless it expects the previous version',
    ],
    [
      'await single.remove(String(id), isExpected, () => marker?.remember(id) ?? []);',
      '',
      'POST /transactions/bulk/delete > applies a change even if another request changed the row first, unless it expects the previous version',
    ],
  ]),
  ...mutantsOf('lib/ledger/store/transactions.ts', 'tests/ledger/contract/bulk.test.ts', [
    [
      '!stored && (isOnlyChange || undefined)',
      '!stored',
      'POST /transactions/bulk/delete > does not claim that transactions were removed if all responses were lost, unless a key proves it',
    ],
  ]),
  ...mutantsOf('lib/ledger/http/transaction-json.ts', 'tests/ledger/contract/bulk.test.ts', [
    [
      'if (repeatedId === undefined) return items;',
      'if (items) return items;',
      'PUT /transactions/bulk > refuses the whole list if it has a transaction twice',
    ],
  ]),
  // Summaries.
  ...mutantsOf('lib/ledger/domain/summary.ts', 'tests/ledger/contract/summary.test.ts', [
    ['toNumber(last) + 1', 'toNumber(last)'],
    ['if (periods.length <= maxPeriods) return;', ''],
  ]),
  ...mutantsOf('lib/ledger/http/summary-json.ts', 'tests/ledger/contract/api/summary.test.ts', [
    ['toDayNumber(start) + 1', 'toDayNumber(start)'],
    ['requireDates(input, `', 'String(`'],
  ]),
  ...mutantsOf(
    'lib/ledger/http/transaction-query.ts',
    'tests/ledger/contract/api/summary.test.ts',
    [
      ['[...new Set(input.split(', '[...Array.from(input.split('],
      ['ids.length <= MAX_FILTER_CATEGORIES', 'ids.length > 0'],
    ],
  ),
  ...mutantsOf('lib/ledger/service/summaries.ts', 'tests/ledger/contract/api/summary.test.ts', [
    ['categoryIds?.includes(id) ?? true', 'true'],
  ]),
  ...mutantsOf('lib/ledger/domain/day-histogram.ts', 'tests/ledger/contract/api/summary.test.ts', [
    [
      'listDaysInRange(range, counts.month)\n      .map',
      'listDaysInRange(createDateRange(), counts.month)\n      .map',
    ],
  ]),

  // The limit on categories, and updates that write only the attributes they change.
  ...mutantsOf('lib/ledger/service/categories.ts', 'tests/ledger/contract/category-limit.test.ts', [
    ['newId <= limit ? newId : await findFreeId()', 'newId'],
  ]),
  ...mutantsOf('lib/ledger/domain/category.ts', 'tests/ledger/contract/category-limit.test.ts', [
    ['if (usedIds.length >= limit) return undefined;', ''],
  ]),
  ...mutantsOf('lib/shared/update-writes.ts', 'tests/ledger/contract/changed-attributes.test.ts', [
    ['Object.keys({ ...before, ...after })', 'Object.keys(after)'],
  ]),

  // Counts and pages.
  ...mutantsOf(
    'lib/ledger/store/transaction-pages.ts',
    'tests/ledger/contract/drifted-ledger.test.ts',
    [['Math.max(total, followingRows.length)', 'total']],
  ),
  ...mutantsOf('lib/ledger/store/day-counts.ts', 'tests/ledger/unit/store/day-counts.test.ts', [
    ['addChange(changes, keys, each, -1n)', 'addChange(changes, keys, each, 0n)'],
    ['increment !== 0n', 'increment > 0n'],
  ]),
  ...mutantsOf(
    'lib/ledger/store/transaction-pages.ts',
    'tests/ledger/contract/crowded-day.full.test.ts',
    [
      [
        'remaining - takenCount,\n        takenCount',
        '0,\n        takenCount',
        'a list with the filter "no filter" > has the expected rows on all pages of 1 rows',
      ],
      [
        '0, limit - takenCount',
        '0, limit',
        'a list with the filter "no filter" > has the expected rows on all pages of 1 rows',
      ],
      [
        '...dayRows.reverse()',
        '...dayRows',
        'a list with the filter "no filter" > has the expected rows on all pages of 7 rows',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/store/transaction-pages.ts',
    'tests/ledger/property/invariants.test.ts',
    [
      ['.slice(skip)', '.slice(0)'],
      ['readSlice(lastPageRange, 0, remaining)', 'readSlice(lastPageRange, 0, count)'],
    ],
  ),
  ...mutantsOf('lib/ledger/store/keys.ts', 'tests/ledger/unit/store/keys.test.ts', [
    ["padStart(16, '0')", "padStart(1, '0')"],
    ['      if (categoryId !== undefined)', '      if (categoryId)'],
  ]),
  ...mutantsOf(
    'lib/ledger/domain/day-histogram.ts',
    'tests/ledger/property/day-histogram.test.ts',
    [
      ['skip < number', 'skip <= number'],
      ['date >= start', 'date > start'],
    ],
  ),
  // The verification of one ledger.
  ...mutantsOf(
    'cli/ledger/verify-ledger.ts',
    'tests/ledger/contract/verify-ledger-command.test.ts',
    [['const isLedgerEmpty = rows', 'const isLedgerEmpty = 1 + rows']],
  ),
  ...mutantsOf(
    'lib/ledger/store/verification/verification.ts',
    'tests/ledger/contract/verification/other-writers.test.ts',
    [
      ['position.readings === 0 || seen.has(identify(drift))', 'true'],
      ['position = isResumedReading', 'position = false'],
      ['READINGS = 3', 'READINGS = 2'],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/store/verification/drifts.ts',
    'tests/ledger/contract/verification/drifts.test.ts',
    [['lastIds[kind] < highestIds[kind]', 'lastIds[kind] <= highestIds[kind]']],
  ),

  // Exports, and the import of an export.
  ...mutantsOf(
    'lib/ledger/http/transaction-csv.ts',
    'tests/ledger/unit/http/transaction-export.test.ts',
    [
      ["(?:$|'|", '(?:$|'],
      ['(wouldRun || character === "\'")', 'wouldRun'],
      ['CELL_BREAK = /[;', 'CELL_BREAK = /['],
      ['else if (LINE_OR_TAB.test(character)) wouldRun = false;', ''],
      ["else if (character === '\"') wouldRun = wouldRunAfterQuote;", ''],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/http/transaction-export.ts',
    'tests/ledger/unit/http/transaction-export.test.ts',
    [
      ['size > MAX_PART_BYTES', 'size > 2 * MAX_PART_BYTES'],
      ['sum(items.map(estimateMaxBytes)) <= MAX_PART_BYTES', '1 <= MAX_PART_BYTES'],
      ['last: items[n - 1]', 'last: items[n]'],
    ],
  ),
  ...mutantsOf('lib/ledger/store/keys.ts', 'tests/ledger/property/export.test.ts', [
    ['`${toDateKey(position)}~`', '`${toDateKey(position)}`'],
  ]),
  ...mutantsOf('lib/ledger/import/plan.ts', 'tests/ledger/property/export.test.ts', [
    [
      'transactionsByContent.get(toContentKey(row))?.shift()',
      'transactionsByContent.get(toContentKey(row))?.[0]',
    ],
  ]),
  // Imports: banks' formats, categories, records of imported rows, and questions to the user.
  ...mutantsOf('lib/ledger/import/ofx.ts', 'tests/ledger/unit/import/ofx.test.ts', [
    [
      "includesDirection('DEBIT in') &&\n    includesDirection('CREDIT out')",
      "includesDirection('DEBIT in')",
    ],
    ["name === 'STMTTRN' ?", 'false ?'],
    [".replace(/^0+$/, '')", ''],
  ]),
  ...mutantsOf('lib/ledger/import/camt.ts', 'tests/ledger/unit/import/camt.test.ts', [
    ['signed > 0 !== (isReversal(entryNode) || isReversal(part))', 'signed > 0'],
    ["addsUp(1) ? 'own' : 'repeated'", "'own'"],
    ["addsUp(1) ? 'own' : 'repeated'", "'repeated'"],
    ['if (addsUp(1) === addsUp(-1)) return undefined;', ''],
    [
      'if (!openingBalance || !closingBalance) return undefined;',
      "if (!openingBalance || !closingBalance) return 'own';",
    ],
    ['partId === null || partId === entryId', 'partId === null'],
    ['status !== BOOKED', 'false'],
  ]),
  ...mutantsOf('lib/ledger/import/qif.ts', 'tests/ledger/unit/import/qif.test.ts', [
    ['parts.length > 0 && cents === Math.round(signed * 100)', 'parts.length > 0'],
    ['if (isOpeningBalance(record))', 'if (false)'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/learned-categories.ts',
    'tests/ledger/unit/import/learned-categories.test.ts',
    [
      ['const MIN_ROWS = 2', 'const MIN_ROWS = 1'],
      ['const MIN_SHARE = 4 / 5', 'const MIN_SHARE = 3 / 5'],
      ['rows > totalRows * COMMON_SHARE', 'false'],
      ['other.category !== category && containsPhrase(other.words, words)', 'false'],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/import/recorded-rows.ts',
    'tests/ledger/unit/import/recorded-rows.test.ts',
    [
      ['hashContents({ ...row, category: null })', 'hashContents(row)'],
      ['keptHashes.has(record.slice(0, HASH_LENGTH))', 'true'],
      ['[...name, ...others.filter(isRemaining), UNDONE_MARK, ...removedRows]', 'part.rows'],
      [
        '[...name, ...others.filter(isRemaining), UNDONE_MARK, ...removedRows]',
        '[...name, UNSENT_MARK, ...removedRows]',
      ],
      ['!MARKS.includes(row) && !isRemaining(row)', '!isRemaining(row)'],
      [
        'for (const row of resolvedPart.created) created.add',
        'for (const row of part.rows) created.add',
      ],
      ['for (const row of part.rows) contents', 'for (const row of resolvedPart.created) contents'],
      ['rows.length === 0 ? [] : [...part.rows.filter(isAccountName), ...rows]', 'rows'],
      [
        '[...name, ...others.filter(isRemaining), UNDONE_MARK',
        '[...others.filter(isRemaining), UNDONE_MARK',
      ],
      ['n <= lastCreatedIndex || ', ''],
      ['findImport(record) === importId', 'findImport(record) !== undefined'],
      ['hasUndoneMark\n    ? -1\n    : after', 'after'],
      ['possiblyCreated: hasUndoneMark ? [] : possiblyCreated', 'possiblyCreated'],
      ['currentParts.has(describePart(each))', 'true'],
      ['JSON.stringify([importId, part, rows])', 'JSON.stringify([importId, part])'],
      ['if (pendingParts.length === 0) return;', ''],
    ],
  ),
  ...mutantsOf('lib/ledger/import/separate-rows.ts', 'tests/ledger/unit/import/questions.test.ts', [
    ['!isMarkedByNo && !isDoubtfulFlag(header)', 'true'],
    ["isYes(cells[index] ?? '') !== isMarkedByNo", "isYes(cells[index] ?? '')"],
    ['if (!cells.every(isYesOrNo)) return [];', ''],
  ]),
  ...mutantsOf('lib/ledger/import/amounts.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['if (isRounded(text))', 'if (false)'],
    ['SCALE.test(end) && !WITH_CENTS.test(end)', 'SCALE.test(end)'],
  ]),
  ...mutantsOf('lib/ledger/import/far-dates.ts', 'tests/ledger/unit/import/questions.test.ts', [
    ['toDayNumber(today) + MAX_DAYS_AHEAD', 'toDayNumber(today)'],
    ['if ([...byDate.keys()].every((date) => date > latestDate)) return [];', ''],
  ]),
  ...mutantsOf('lib/ledger/import/read-table.ts', 'tests/ledger/unit/import/questions.test.ts', [
    [
      'options.columns.amount !== undefined || !isGross(names[grossColumn])',
      '!isGross(names[grossColumn])',
    ],
    [
      'Math.abs(tryReadNumber(cells[index], decimal) ?? 0)',
      'tryReadNumber(cells[index], decimal) ?? 0',
    ],
  ]),
  // Drafts that the web page keeps.
  ...mutantsOf('web/page/kept-drafts.ts', 'tests/ledger/unit/web/kept-drafts.test.ts', [
    [
      'if (tabStorage.setItem(name, JSON.stringify(draft))) pendingDrafts',
      'tabStorage.setItem(name, JSON.stringify(draft));\n    pendingDrafts',
    ],
  ]),
  // Imports: transfers, text formulas, and interrupted uploads.
  ...mutantsOf('lib/ledger/import/transfers.ts', 'tests/ledger/unit/import/transfers.test.ts', [
    ['incoming.account !== outgoing.account', 'true'],
    ['2, -2, 3, -3]', '2, -2, 3, -3, 4, -4]'],
    ['addEvidence(b.evidence) - addEvidence(a.evidence) || ', ''],
    [' || a.days - b.days', ''],
    ["if (stronger !== EVIDENCE.none) return 'likely';", ''],
    [' && stronger === EVIDENCE.own', ''],
    ['weaker !== EVIDENCE.none && ', ''],
    ['!WORD_CHARACTER.test(', '!/[^\\s\\S]/.test('],
    ["saysNothingElse([category ?? '-'])", 'false'],
    ["saysNothingElse([category ?? '-'])", "TRANSFER.test(category ?? '')"],
    ["days === 0 ? 'possible' : 'chance'", "'possible'"],
    ['if (isPairFree) usedEntries.add(outgoing).add(incoming);', ''],
  ]),
  ...mutantsOf('lib/ledger/import/csv-text.ts', 'tests/ledger/unit/import/statement.test.ts', [
    [
      'unwrapQuotedRow(row.cells, delimiter).map(readTextFormula)',
      'unwrapQuotedRow(row.cells, delimiter)',
    ],
    ['text === undefined ? cell : unescapeQuotes(text)', 'text ?? cell'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/recorded-rows.ts',
    'tests/ledger/unit/cli/import/interrupted-upload.test.ts',
    [
      [
        'if (announcements.length > 0 && createdRecords.length < records.length) await write(part);',
        '',
      ],
      ['      await clearMarks();\n      await write(part);', '      await clearMarks();'],
      ['const mark = part.isMarked ? [UNSENT_MARK] : [];', 'const mark: string[] = [];'],
      ['close: clearMarks,', 'close: async () => undefined,'],
      ['+ recordCount <= maxPartRows', '+ recordCount <= Number.MAX_VALUE'],
      ['if (part.isMarked && listPending(part).length === 0)', 'if (part.isMarked)'],
    ],
  ),
  ...mutantsOf(
    'cli/ledger/import/upload.ts',
    'tests/ledger/unit/cli/import/interrupted-upload.test.ts',
    [
      ['  await announceBatch(0);', '  void announceBatch(0);'],
      ['announceBatch(start + MAX_BULK_ITEMS);', 'announceBatch(start + 2 * MAX_BULK_ITEMS);'],
    ],
  ),
  ...mutantsOf('cli/ledger/import/upload.ts', 'tests/ledger/unit/cli/import/upload.test.ts', [
    ['isFromThisImport ? { ...result, status: CREATED } : result', 'result'],
    ['(await findImportId(service, item.externalId)) === importId', 'true'],
  ]),

  // Rules on values, and inactive categories.
  ...mutantsOf('lib/ledger/domain/money.ts', 'tests/ledger/unit/http/record-json.test.ts', [
    ['Math.abs(value) <= MAX_AMOUNT', 'Math.abs(value) < MAX_AMOUNT'],
    ['\\d{1,2}', '\\d{1,3}'],
  ]),
  ...mutantsOf(
    'lib/ledger/domain/calendar-date.ts',
    'tests/ledger/unit/domain/calendar-date.test.ts',
    [
      ['year % 400 === 0', 'year % 400 === 1'],
      [' || text < EARLIEST_DATE', ''],
    ],
  ),
  ...mutantsOf('lib/ledger/domain/text.ts', 'tests/ledger/unit/http/record-json.test.ts', [
    ['[...value].length <= maximum', 'value.length <= maximum'],
  ]),
  ...mutantsOf('lib/ledger/domain/text.ts', 'tests/ledger/unit/domain/text.test.ts', [
    ['u200b-', 'u200c-'],
  ]),
  ...mutantsOf('lib/ledger/domain/record.ts', 'tests/ledger/unit/domain/record.test.ts', [
    ['previous.updatedAt + 1', 'previous.updatedAt'],
  ]),
  ...mutantsOf('lib/ledger/http/fields.ts', 'tests/ledger/unit/http/fields.test.ts', [
    ['Array.isArray(query[name])', 'false'],
    ['[shorten(name), pairs', '[name, pairs'],
    ['MAX_REPORTED_LENGTH).toWellFormed()', 'MAX_REPORTED_LENGTH)'],
    ['!Object.hasOwn(entries, name)', '!(name in entries)'],
  ]),
  ...mutantsOf(
    'lib/ledger/service/transactions.ts',
    'tests/ledger/contract/api/transactions.test.ts',
    [['if (!category.isActive) throw createInactiveCategoryError();', '']],
  ),
  ...mutantsOf('lib/ledger/service/categories.ts', 'tests/ledger/contract/api/categories.test.ts', [
    ['isActive || !activeOnly', 'isActive'],
  ]),

  // Migrations: steps, runs and their lock, snapshots, and the reconciliation of collections.
  ...mutantsOf(
    'lib/migration/steps/backend-actions.ts',
    'tests/migration/contract/steps/cutover.test.ts',
    [
      [
        "[503, 'ECONNREFUSED']",
        "[503, 429, 'ECONNREFUSED']",
        'the window > drains again, from the next refusal on, if a test write gets another response',
      ],
      [
        'drainedSeconds >= context.run.plan.drainSeconds',
        'drainedSeconds >= 0',
        'the window > stores the figures of the searches in the report, and its phases and times in the record',
      ],
    ],
  ),
  ...mutantsOf('lib/migration/moves.ts', 'tests/migration/unit/phases.test.ts', [
    ["needsPerson: true,\n    needs: ['backup-manifest']", "needs: ['backup-manifest']"],
  ]),
  ...mutantsOf('web/page/category-merge.ts', 'tests/ledger/unit/web/page/category-merge.test.ts', [
    ['if (isMoving.peek()) return false;', ''],
    ['me.peek()?.ledger === finishedMerge.ledger &&\n    ', ''],
    ['if (!category.is_active) await updateCategory(category, { is_active: true });', ''],
    ['...((isMerged || moved.length > 0) && { action: undo }),', ''],
    ['const moved = [...movedEarlier, ...movedNow];', 'const moved = movedNow;'],
    ['  dropDraft(name);\n  announcement', '  announcement'],
    ['    dropDraft(name);\n    notice', '    notice'],
  ]),
  ...mutantsOf('web/page/category-writes.ts', 'tests/ledger/unit/web/page/category-merge.test.ts', [
    ['const result = lastUpdate.then(update, update);', 'const result = update();'],
    ['  keepCategory(data);\n  const message', '  const message'],
  ]),
  ...mutantsOf(
    'lib/migration/steps/return-end.ts',
    'tests/migration/unit/steps/return-end.test.ts',
    [
      ["'setting-changed' in passed || FAILING in passed", "'setting-changed' in passed"],
      [' && refusedAs !== NOTHING_TO_RETURN_TO', ''],
      ["refusedAs === 'RefusedStillNewVersion' || settingNamesNew", 'settingNamesNew'],
    ],
  ),
  ...mutantsOf('lib/migration/next.ts', 'tests/migration/unit/phases.test.ts', [
    ["run.phase === 'switching-back' && isPastDeadline(run, now)", 'false'],
    [' && retentionOf(run, now).isOver', ''],
    ['isByPerson && canStay', 'canStay'],
    ['return findFailure(run) ?? refusalAfterDeadline;', 'return refusalAfterDeadline;'],
    ["phase === 'live' && command === 'rollback'", "command === 'rollback'"],
  ]),
  ...mutantsOf('lib/migration/runs/run-step.ts', 'tests/migration/unit/runs/step.test.ts', [
    ['isDeepStrictEqual(savedCheckpoint?.inputs, inputs)', 'true'],
    ['get run() {\n      return run;\n    },', 'run,'],
    ['(isBeforeWindow(phase) || isSwitching(phase))', 'isSwitching(phase)'],
    ['if (run.accepted && isBeforeWindow(run.phase))', 'if (false)'],
    ['isByPerson && isBeforeWindow(phase)', 'false'],
  ]),
  ...mutantsOf(
    'lib/migration/runs/run-step.ts',
    'tests/migration/contract/steps/windows.full.test.ts',
    [
      [
        'return hasBegun() ? { ...run.accepted, ...input } : input;',
        'return input;',
        'a run after its rollback > continues without the operator with the number of deletions that its cutover began with',
      ],
      [
        'continues ? acceptLosses(planned, input) : planned',
        'planned',
        'a run after its rollback > continues with the number of deletions that was given while its cutover was under way',
      ],
    ],
  ),
  ...mutantsOf('lib/migration/runs/run.ts', 'tests/migration/contract/steps/windows.full.test.ts', [
    [
      'const { refused, accepted: _, ...cleared } = run;',
      'const { refused, ...cleared } = run;',
      'a run after its rollback > needs the number of deletions again once a window has ended',
    ],
  ]),
  ...mutantsOf('lib/migration/runs/advance.ts', 'tests/migration/unit/runs/step.test.ts', [
    ['return hasReachedTarget && !canAdvance', 'return !canAdvance'],
  ]),
  ...mutantsOf(
    'lib/migration/runs/advance.ts',
    'tests/migration/contract/steps/automatic-rollback.test.ts',
    [['if (!rollbackStep || isTransient || invocation.interruption?.aborted) throw', 'throw']],
  ),
  ...mutantsOf(
    'lib/migration/runs/run-step.ts',
    'tests/migration/contract/steps/automatic-rollback.test.ts',
    [
      [
        'findFailure(storedRun) ?? toStoredRefusal(failed)',
        'toStoredRefusal(failed)',
        'if the cutover was killed before the rollback began > a repeated cutover is refused for the first reason, and rolls back',
      ],
      [
        'explainFailure(cause, findFailure(run))',
        'translateFailure(cause)',
        'a window without a collection to return to says what failed, and why it cannot roll back',
      ],
      [
        'run.refused ?? move.because',
        'run.refused',
        'the record says that the window had closed if > the watch begins the rollback',
      ],
      [
        'refused, window: { ...windowOf(run), failed: refused } }',
        'refused }',
        'if the cutover was killed before the rollback began > the watch rolls back at once',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/snapshots.ts',
    'tests/migration/contract/steps/automatic-rollback.test.ts',
    [
      [
        'isUnusable && !context.signal.aborted',
        'isUnusable',
        'a window rolls back if > a snapshot proves damaged after the window has closed',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/adapters/http-memory-backend.ts',
    'tests/migration/contract/steps/backend.test.ts',
    [
      ['[404, 405]', '[410]'],
      ["method === 'POST' ? [] :", "method === 'POST' ? { user_id: userId } :"],
      ['status === unknownStatus[method]', 'status === -1'],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/collection-checks.ts',
    'tests/migration/contract/steps/preflight.test.ts',
    [
      [
        "['condition_max_size', MAX_SEARCHED_IDS,",
        "['condition_max_size', 0,",
        'the preflight > refuses a strict mode that allows too few ids per condition, and begins no run',
      ],
      [
        "['filter_max_conditions', MAX_CONDITIONS,",
        "['filter_max_conditions', 0,",
        'the preflight > refuses a strict mode that allows only simple filters, and begins no run',
      ],
      [
        "accept: ['unreachable-users', finding],",
        "accept: ['unreachable-users'],",
        'the preflight > passes no-owner only if that finding is accepted',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/prerequisites.ts',
    'tests/migration/contract/steps/preflight.test.ts',
    [
      [
        'run.plan.accepts.includes(finding)',
        'false',
        'the preflight > finds settings that the new version would not use: { shard_number: 3 }',
      ],
      [
        'blocking.has(needed.name)',
        'false',
        'the preflight > reports the prerequisites that it could not check, and checks the others',
      ],
      [
        "stops !== 'run'",
        'false',
        'the preflight > reports the prerequisites that it could not check, and checks the others',
      ],
      [
        "stops !== 'run'",
        'true',
        'the preflight > reports the prerequisites that it could not check, and checks the others',
      ],
      [
        'context.mayWrite && results.every(isMet)',
        'context.mayWrite',
        'the preflight > refuses a source that does not exist, and begins no run',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/backend-endpoints.ts',
    'tests/migration/contract/steps/backend.test.ts',
    [['missing.length === ENDPOINT_NAMES.length', 'missing.length < 0']],
  ),
  ...mutantsOf('lib/migration/runs/times.ts', 'tests/migration/unit/runs/times.test.ts', [
    [' || overAt !== undefined', ''],
  ]),
  ...mutantsOf('lib/migration/runs/advance.ts', 'tests/migration/contract/steps/rollback.test.ts', [
    [
      ' || isRepeated(run, services.clock())',
      '',
      'a cutover that has opened writes > keeps users on the new version if the late writes cannot be carried over',
    ],
  ]),
  ...mutantsOf(
    'lib/migration/runs/run-step.ts',
    'tests/migration/contract/steps/rollback.test.ts',
    [
      [
        '!hasBegun() || isRepeated(run, services.clock())',
        '!hasBegun()',
        'a cutover that has opened writes > keeps users on the new version if the late writes cannot be carried over',
      ],
    ],
  ),
  ...mutantsOf('lib/migration/next.ts', 'tests/migration/contract/steps/rollback.test.ts', [
    [
      'return request.isByPerson ? undefined : whyRollbackRefused(run, request.now);',
      'return undefined;',
      'a refused rollback keeps writes frozen for at most fifteen minutes > then the watch leaves users on the new collection, and a rollback by the operator carries their writes over',
    ],
    [
      'if (run.window?.stays)',
      'if (run.window === null)',
      'a refused rollback keeps writes frozen for at most fifteen minutes > then the watch leaves users on the new collection, and a rollback by the operator carries their writes over',
    ],
    [
      'wasOpened(run) || run.refused',
      'true || run.refused',
      'a window that has expired > cannot be finished late if there is a collection to return to',
    ],
  ]),
  ...mutantsOf(
    'lib/migration/steps/comparison.ts',
    'tests/migration/contract/steps/rollback.test.ts',
    [
      [
        '...(info ? listLimits(info) : [])',
        '...[]',
        'a rollback > is forecast in pages that the strict mode of the store allows',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/return-end.ts',
    'tests/migration/contract/steps/rollback.test.ts',
    [
      [
        'now < failing.since + MAX_UNPROVED_MS',
        'true',
        'a refused rollback keeps writes frozen for at most fifteen minutes > then the run stays live if the old collection was deleted after users were moved',
      ],
      [
        'passedStages > previous.after',
        'passedStages === null',
        'a refused rollback keeps writes frozen for at most fifteen minutes > and a later refusal for as long again, if a repair let the rollback continue',
      ],
      [
        'passedStages > previous.after',
        'passedStages >= previous.after',
        'a refused rollback keeps writes frozen for at most fifteen minutes > then users are on the new collection if the setting cannot be changed',
      ],
      [
        'wasOpened(run) || plan.mayHaveLeaked',
        'wasOpened(run)',
        'a refused rollback keeps writes frozen for at most fifteen minutes > then users are on the new collection if it was active and the old one was deleted',
      ],
      [
        'isTargetMissing && !plan.restores ?',
        'isTargetMissing && plan === null ?',
        'a refused rollback keeps writes frozen for at most fifteen minutes > then users are on the restored snapshot if the old collection was active and was deleted',
      ],
      [
        "const carries = plan.way === 'carry';",
        "const carries = plan !== undefined && plan.way !== 'to-snapshot';",
        'when the old collection > is deleted and restored before traffic opens, it receives the early writes',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/return-end.ts',
    'tests/migration/contract/steps/in-place.test.ts',
    [
      [
        "if ('setting-changed' in stages.recorded.passed) return false;",
        "if (run.plan.inPlace && 'frozen' in stages.recorded.passed) return false;",
        'a migration in place > opens writes again if the rollback would lose more writes than were acknowledged',
      ],
    ],
  ),
  ...mutantsOf('lib/migration/resolver.ts', 'tests/migration/contract/steps/rollback.test.ts', [
    [
      "!backWriter && decideDirection(pair) === 'backward'",
      "mode === 'fill' && decideDirection(pair) === 'backward'",
      'users return after a rollback > writes of a forgotten program to the old collection do not block the rollback, and stay there',
    ],
  ]),
  ...mutantsOf(
    'lib/migration/reconcile-report.ts',
    'tests/migration/contract/steps/rollback.test.ts',
    [
      [
        'batch.keepsBoth(pair) ? activeDigest : standbyDigest',
        'standbyDigest',
        'users return after a rollback > writes of a forgotten program to the old collection do not block the rollback, and stay there',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/last-copies.ts',
    'tests/migration/contract/steps/retention.full.test.ts',
    [
      [
        'if (removal.removesMemories) await',
        'if (removal.removesMemories && (run.base || run.plan.inPlace)) await',
        'the data kept for a rollback > is kept while the active collection is emptied, even if a rollback lost the last common version',
      ],
      [
        'deletes = points * MAX_MISSING_SHARE',
        'deletes = points',
        'the data kept for a rollback > is kept (the old collection) while the active collection is emptied',
      ],
      [
        'deletes = points * MAX_MISSING_SHARE',
        'deletes = 0',
        'the data kept for a rollback > is removed if users deleted some memories, and does not block the end of a run that keeps it',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/rebuild.ts',
    'tests/migration/contract/steps/own-collections.full.test.ts',
    [
      [
        'await assertSourceFilled(context)',
        'void assertSourceFilled',
        'a new collection, if the old one > was emptied, is not changed by a rebuild',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/copy.ts',
    'tests/migration/contract/steps/own-collections.full.test.ts',
    [
      [
        'await assertSourceFilled(context)',
        'void assertSourceFilled',
        'a new collection, if the old one > was emptied before its window, is not changed inside the window',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/retention.ts',
    'tests/migration/contract/steps/retention.full.test.ts',
    [
      [
        '? backupPrefixesOf(run) : []',
        '? [...backupPrefixesOf(run), basePrefixOf(run)] : []',
        'the data kept for a rollback > is removed even if a rollback was refused half-way, which left it unchanged',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/abort.ts',
    'tests/migration/contract/steps/windows.full.test.ts',
    [
      [
        '(await activeLacksMost(request))',
        'false',
        'a run after its rollback > keeps the new collection if the old one is emptied when it is aborted before its window',
      ],
      [
        'filledCollections.length > 0 && ',
        '',
        'a run after its rollback > that removes nothing can be aborted even if the last common version cannot be read',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/abort.ts',
    'tests/migration/contract/steps/watch.full.test.ts',
    [
      [
        'removesMemories: true',
        'removesMemories: false',
        'the watch > removes nothing of an aborted run while the active collection is emptied, after a rollback, until the operator says that users did it',
      ],
      [
        'await runs.write(lease, { ...remainingRun, base: undefined });',
        '',
        'the watch > continues to remove the data of an aborted run, wherever it was killed',
      ],
    ],
  ),
  ...mutantsOf('lib/migration/runs/run.ts', 'tests/migration/contract/steps/watch.full.test.ts', [
    [
      '(verified ?? backedUp)?.',
      'verified?.',
      'the watch > removes nothing of an aborted run while the active collection is emptied, before a window, until the operator says that users did it',
    ],
  ]),
  ...mutantsOf('lib/migration/next.ts', 'tests/migration/contract/steps/watch.full.test.ts', [
    [
      'isDue: command !== null && (',
      'isDue: (',
      'the watch > does not roll back a live run if there is nothing to do',
    ],
    [
      "{ work: 'remove', isDaily: true }",
      "{ work: 'remove', isDaily: false }",
      'the watch > removes nothing of an aborted run while the active collection is emptied, after a rollback, until the operator says that users did it',
    ],
  ]),
  ...mutantsOf('lib/migration/steps/copy.ts', 'tests/migration/contract/steps/copy.test.ts', [
    [
      ' - (passed[COMPARING]?.workedMs ?? 0)',
      '',
      'a copy measures its speed over the whole comparison, not over its last invocation alone',
    ],
    [
      'passed[COMPARED]?.workedMs ?? 0',
      '0',
      'a copy measures its speed over the whole comparison, not over its last invocation alone',
    ],
  ]),
  ...mutantsOf(
    'cli/migration/migrate/drive.ts',
    'tests/migration/contract/command-line/run.test.ts',
    [
      [
        'if (!mayHaveExpired(status)) return status;',
        'if (deletes === undefined || !mayHaveExpired(status)) return status;',
        'when the data of an ended run cannot be removed because the active collection was emptied > a run that is live succeeds once the operator repairs the collection and types the suggested command',
      ],
    ],
  ),
  ...mutantsOf(
    'cli/migration/migrate/next-steps.ts',
    'tests/migration/unit/cli/migrate/next-steps.test.ts',
    [
      [
        'data.run ?? status.runId',
        'status.runId',
        'a refusal of another run offers a repair or the number of deletions > if the current run is live',
      ],
    ],
  ),
  ...mutantsOf('lib/migration/steps/retention.ts', 'tests/migration/unit/steps/retention.test.ts', [
    ['remindedAt < (window?.overAt ?? 0) || ', ''],
  ]),
  ...mutantsOf('lib/migration/runs/advance.ts', 'tests/migration/contract/steps/cutover.test.ts', [
    [
      'failure instanceof RetryableFailure || isRefusal(',
      'isRefusal(',
      'a cutover > names the deployment if the old version, still frozen, refuses the test write',
    ],
  ]),
  ...mutantsOf('lib/migration/runs/run.ts', 'tests/migration/unit/runs/run.test.ts', [
    ["run.phase === 'switching' && phase === 'switching-back'", "phase === 'switching-back'"],
    ['const { window: _, ...runWithoutWindow } = run;', 'const runWithoutWindow = run;'],
    ["beginsRollback || run.phase === 'switching-back'", "run.phase === 'switching-back'"],
  ]),
  ...mutantsOf(
    'cli/migration/migrate/drive.ts',
    'tests/migration/contract/command-line/run.test.ts',
    [
      [
        "step === 'rebuild' || step === 'copy'",
        "step === 'copy'",
        'migrate run > `run` passes --deletes to each of its steps',
      ],
      [
        "isLate ? 'cutover' : next",
        'next',
        'once users may be on the new version > cutover finishes an expired window instead of rolling it back',
      ],
      [
        'if (newStatus.isRepeated && ',
        'if (false && ',
        'once users may be on the new version > run repeats the refused step, and shows the refusal once',
      ],
      [
        'message !== lastSeen.failure',
        'true',
        'once users may be on the new version > run repeats the refused step, and shows the refusal once',
      ],
    ],
  ),
  ...mutantsOf('lib/migration/next.ts', 'tests/migration/contract/steps/rollback.test.ts', [
    [
      " || run.refused?.name === 'RefusedNothingToReturnTo'",
      '',
      'a window that has expired > can be finished late by an operator if there is nothing to return to',
    ],
  ]),
  ...mutantsOf('lib/migration/runs/run.ts', 'tests/migration/contract/steps/watch.full.test.ts', [
    ["phase === 'aborted' ? 'left' : undefined", 'undefined'],
  ]),
  ...mutantsOf('lib/migration/runs/journal.ts', 'tests/migration/unit/runs/journal.test.ts', [
    ['if (passedEntry) return passedEntry.found as Found;', ''],
    ['if (!context.hasTime()) throw', 'if (false) throw'],
    ['await context.renewLease();', ''],
    ['if (isDue || isOutOfTime) await', 'if (isDue) await'],
    ['if (isDue || isOutOfTime) await', 'await'],
    ['if (isOutOfTime) throw outOfTime();', ''],
    ['open?.stage === stage ? open.cursor : undefined', 'open?.cursor'],
    ['{ passed: { ...read().passed, [', '{ ...read(), passed: { ...read().passed, ['],
    ['{ found, workedMs: context.workedMs() }', '{ found }'],
    ['runLast: runStage,', 'runLast: once,'],
    [
      'Object.getOwnPropertyDescriptors(context)',
      'Object.getOwnPropertyDescriptors({ ...context })',
    ],
  ]),
  ...mutantsOf(
    'lib/migration/kept-snapshot.ts',
    'tests/migration/contract/steps/backup.full.test.ts',
    [['clearedEpoch === lease.epoch && ', '']],
  ),
  ...mutantsOf('lib/migration/runs/run-lock.ts', 'tests/migration/contract/run-lock.test.ts', [
    ['epoch = :seen AND lease_until <= :now', 'epoch = :seen OR lease_until <= :now'],
    ["IS_LEASE_EPOCH = 'epoch = :epoch'", "IS_LEASE_EPOCH = 'epoch >= :epoch'"],
  ]),
  ...mutantsOf(
    'lib/migration/steps/backend-actions.ts',
    'tests/migration/unit/steps/backend-actions.test.ts',
    [
      ['pending?.action === action && ', ''],
      [' && pending.collection === collection', ''],
    ],
  ),
  ...mutantsOf('lib/migration/scan.ts', 'tests/migration/unit/scan.test.ts', [
    ['if (owner !== NO_USER) counts', 'counts'],
  ]),
  ...mutantsOf('lib/migration/configuration.ts', 'tests/migration/unit/configuration.test.ts', [
    [
      'await readHealthyInfo({ store: context.services.vectors, collection });\n  const isBusy',
      'await context.services.vectors.readCollectionInfo(collection);\n  const isBusy',
    ],
  ]),
  ...mutantsOf('lib/migration/forecast.ts', 'tests/migration/unit/forecast.test.ts', [
    ['seconds <= minutes * 60', 'true'],
  ]),
  ...mutantsOf('lib/migration/parity.ts', 'tests/migration/contract/search-parity.test.ts', [
    [
      'overlap < MIN_SHARE',
      'overlap < 0',
      'a search in the new collection that > misses one of five hits is a finding',
    ],
    ['byKeywords < MIN_SHARE', 'byKeywords < 0'],
  ]),
  ...mutantsOf('lib/migration/snapshots.ts', 'tests/migration/contract/steps/backup.test.ts', [
    [
      'const unknownSnapshots = await removeOwnSnapshots(context, collection, madeRecord);',
      'const unknownSnapshots: string[] = [];',
    ],
    ['requests.length - (isAlreadyRemoved ? 1 : 0)', 'requests.length'],
  ]),
  ...mutantsOf('lib/migration/throttle.ts', 'tests/migration/unit/throttle.test.ts', [
    ['let tokens = 0;', 'let tokens = 1_000;'],
  ]),
  ...mutantsOf('lib/migration/reconcile-report.ts', 'tests/migration/unit/reconcile.test.ts', [
    ['if (examples.length < MAX_EXAMPLES) ', ''],
  ]),
  ...mutantsOf('lib/migration/resolver.ts', 'tests/migration/unit/reconcile.test.ts', [
    ["return standby && 'extra'", 'return undefined'],
  ]),
  ...mutantsOf('lib/migration/fate.ts', 'tests/migration/unit/fate.test.ts', [
    [" && base !== 'inserting'", ''],
    ['return isUnchanged(active, base) && base', 'return base'],
    ["base === 'unknown' || ", ''],
    ['first.digest !== undefined && ', ''],
  ]),
  ...mutantsOf('local/create-table.ts', 'tests/migration/unit/cli/migrate/local-invoker.test.ts', [
    ['createTable(client, tableName, timeout)', 'createTable(client, tableName)'],
  ]),
  ...mutantsOf('lib/migration/steps/equalise.ts', 'tests/migration/unit/steps/equalise.test.ts', [
    [
      "if (exceedsLimit && onExcess === 'refuse') {",
      'if (false) {',
      'a change is refused before anything is written > an active collection that was changed throughout',
    ],
    [
      'insertsOnly = mayInsert && exceedsLimit',
      'insertsOnly = false',
      'an active collection that was emptied, in invocations of one page each',
    ],
    [
      "limitedChanges === 'none' ? ",
      'false ? ',
      'both collections get the expected memories > an active collection that was changed throughout, if only removals are limited',
    ],
    [
      'const passed = earlier ? { [DECISIONS.earlier]: { found: earlier } } : {};\n  await context.stages.rewrite({ passed });',
      'await context.stages.rewrite(context.stages.recorded);',
      'a comparison is repeated after the repair of > an active collection that was emptied',
    ],
    [
      'passed = earlier ? { [DECISIONS.earlier]: { found: earlier } } : {}',
      'passed = {}',
      'a comparison is repeated after the repair of > a store that dropped a write',
    ],
    [
      'if (faults.length > 0) await discardStages(context, reconciled);',
      '',
      'a comparison is repeated after the repair of > a store that dropped a write',
    ],
    [
      'cursor: startsOver ? undefined : start',
      'cursor: undefined',
      'each invocation resumes where the previous one ended',
    ],
    [
      '{ insertsOnly = mayInsert && exceedsLimit } = context.cursor ?? {}',
      'insertsOnly = mayInsert && exceedsLimit',
      'a walk that only inserts continues to do so',
    ],
    [
      'hasBegun || !mustCompare',
      '!mustCompare',
      'a first comparison, which starts the last common version, reads both collections once',
    ],
    [
      'tally !== undefined && hasTooManyLateChanges(tally)',
      'false',
      'a standby that was emptied, in invocations of one page each',
    ],
    [
      "base === 'continued' ? run.base : undefined",
      'run.base',
      'both collections get the expected memories > a standby without a last common version',
    ],
    [
      "if (users === 'writing') return [];",
      '',
      'both collections get the expected memories > a walk that carries only late writes',
    ],
    [
      "limitedChanges === 'vectors' ? settings : undefined",
      'undefined',
      'a change is refused before anything is written > an active collection with vectors of another model',
    ],
    [
      'common === points && adds',
      'adds',
      'two equal collections that have changed are read again for the last common version',
    ],
    [
      "options.onExcess !== 'write' || ",
      '',
      'a change is refused before anything is written > an active collection without a last common version',
    ],
  ]),
  ...mutantsOf(
    'lib/migration/steps/comparison.ts',
    'tests/migration/unit/steps/comparison.test.ts',
    [
      ["if (fate !== 'backward') counts", 'counts'],
      ['offset: cursor?.next ?? null', 'offset: null'],
      ["if (difference === 'vector') counts.changes += 1;", ''],
      ['vectors && isUnchanged(standby, base)', 'vectors'],
      ["fate === 'conflict' || (fate", '(fate'],
      ['removes: Math.max(0, -excess)', 'removes: Math.max(0, excess)'],
      ['request, testUserOf(run.runId)', 'request'],
    ],
  ),
  ...mutantsOf('lib/migration/base.ts', 'tests/migration/unit/resolver.test.ts', [
    ["pendingIds.has(id) ? 'inserting' : 'absent'", "'absent'"],
    ["if (!isCovered(previous, id)) return 'unknown';", ''],
  ]),
  // Each safeguard of the checked model, removed from the code (docs/migration/model/README.md).
  ...[
    withoutSafeguard('NO_FREEZE_PROOF', 'steps/backend-actions.ts', [
      'needsProof ? await proveFrozen(context, collections) : {}',
      '{}',
    ]),
    withoutSafeguard('NO_VERSION_PROOF', 'steps/switch.ts', [
      "await stages.once('proved', (context) => proveNew(context, to));",
      '',
    ]),
    withoutSafeguard('SETTING_AFTER_DEPLOYMENT', 'steps/switch.ts', [
      "await stages.once('setting-changed', (context) => changeToNew(context, to));",
      '',
    ]),
    withoutSafeguard('HOME_AFTER_OPENING', 'steps/switch-forward.ts', [
      'await updateRun({ window: { ...windowOf(run), openedAt: services.clock().getTime() } });',
      '',
    ]),
    withoutSafeguard('NO_LAST_LOOK', 'steps/switch-forward.ts', [
      'else await assertUnchanged(context, to);',
      '',
    ]),
    withoutSafeguard('NO_SECOND_LOOK', 'steps/switch.ts', [
      "return await stages.runLast('carried', (context) => carryLateWrites(context, to));",
      'return {};',
    ]),
    withoutSafeguard('TWO_VERSIONS', 'steps/equalise.ts', [
      "return base === 'continued' ? run.base : undefined;",
      'return undefined;',
    ]),
    withoutSafeguard('NO_CONDITION', 'point-writer.ts', [
      "batch, 'update_only', condition)",
      "batch, 'update_only')",
    ]),
    withoutSafeguard('NO_NOTE', 'resolver.ts', [
      'if (pendingInserts.length > 0)\n      await walk.recordPendingInserts(pendingInserts.map(({ id }) => id));',
      '',
    ]),
    withoutSafeguard('NOTES_DROPPED', 'base.ts', [
      '...(previous?.making ?? []).filter(isAhead), ',
      '',
    ]),
    withoutSafeguard('UNKNOWN_IS_ABSENT', 'base.ts', [
      "if (!isCovered(previous, id)) return 'unknown';",
      '',
    ]),
    withoutSafeguard('BASE_OUTLIVES_RESTORE', 'steps/switch-back.ts', [
      "base: restores || plan.beginsBase ? 'begun' : 'continued',",
      "base: 'continued',",
    ]),
    withoutSafeguard('NO_FUSE', 'mass-change.ts', [
      `return operatorLimit ?? Math.max(MIN_LIMIT, Math.floor(points / POINTS_PER_REMOVAL));
}

export function isExcessive(changes: Changes, operatorLimit?: number): boolean {`,
      `return points;
}

export function isExcessive(_: Changes): boolean {
  return false;
}

export function wasExcessive(changes: Changes, operatorLimit?: number): boolean {`,
    ]),
    withoutSafeguard('DAMAGE_AS_DELETIONS', 'resolver.ts', [
      'return isDamaged || !isUserChange',
      'return (isDamaged && standby) || !isUserChange',
    ]),
    withoutSafeguard('DAMAGE_AS_CHANGES', 'resolver.ts', [
      'return isDamaged || !isUserChange',
      'return (isDamaged && !standby) || !isUserChange',
    ]),
    withoutSafeguard('ABORT_REMOVES_ALL', 'steps/abort.ts', [
      'await removeOwnCollections(context, { except: keeps.flatMap(withCompanion) });',
      'await removeCollections(context, builtCollectionsOf(run));',
    ]),
    withoutSafeguard('NO_LOOK_BEFORE_REMOVAL', 'steps/retention.ts', [
      'if (!exists || (await haveSameMemories(context, sourceCollection, { base: run.base }))) {',
      'if (true) {',
    ]),
    withoutSafeguard('FAILURE_WAITS', 'runs/advance.ts', [
      'return await beginRollback(step, services, { ...call, failure: translateFailure(error) });',
      'throw error;',
    ]),
  ].flat(),
  ...mutantsOf('lib/migration/resolver.ts', 'tests/migration/unit/resolver.test.ts', [
    ['newRemovals.second > limit', 'newRemovals.second > 2 * limit'],
    ['first + activeRemovals > backLimit', 'false'],
    ['pair.active && decideDirection(pair)', '!pair.standby && decideDirection(pair)'],
    ['await keepOverwritten(rereadPairs);', ''],
  ]),
  ...mutantsOf(
    'lib/migration/keyword-fill.ts',
    'tests/migration/contract/vector-store/keyword-fill.test.ts',
    [
      ['version > since)', 'version > since + 1_000)'],
      [
        "'sha256', `${id}|${version}`",
        "'sha256', id",
        'the sandbox as 1.19.0 > shows that a user changes only the text',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/in-place.ts',
    'tests/migration/contract/steps/in-place.test.ts',
    [
      [
        'walk.refilled === 0',
        'true',
        'a migration in place > gives a memory the keywords of its new text if only the text was changed',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/in-place.ts',
    'tests/migration/contract/steps/automatic-rollback.test.ts',
    [
      [
        'sample: () => sampleDigest(place),',
        '',
        'a window rolls back if > a vector has changed, in place',
      ],
      [
        'return contents.usersDigest;',
        "return String(context.run.evidence['verification-report']?.facts.usersDigest);",
        'a window rolls back if > counts per user have changed, in place',
      ],
      [
        "run.phase === 'switching' && pending > 0",
        'pending < 0',
        'a window rolls back if > the store does not fill keywords, in place',
      ],
    ],
  ),
  ...mutantsOf('lib/migration/point-writer.ts', 'tests/migration/unit/reconcile.test.ts', [
    ['hash === undefined || hash === null ? ', 'hash !== undefined || hash !== null ? '],
  ]),
  ...mutantsOf('lib/migration/point-writer.ts', 'tests/migration/unit/resolver.test.ts', [
    [
      '{ filter: filterUnchanged(unchangedPoints) }',
      '{ ids: unchangedPoints.map(({ id }) => id) }',
    ],
    ["'update_only', condition", "'update_only'"],
    ["'insert_only'", "'upsert'"],
    ['.filter(({ id }) => !existingPoints.has(id))', ''],
    ['isSame(currentPoints.get(point.id), point)', 'currentPoints.has(point.id)'],
  ]),
  ...mutantsOf(
    'lib/migration/steps/switch-back.ts',
    'tests/migration/contract/steps/rollback.test.ts',
    [
      [
        'leftBehind <= limit)',
        'leftBehind <= limit + 1)',
        'a rollback to the snapshot > does not leave 3 writes behind if 2 were acknowledged',
      ],
      [
        'await assertNotDeleted(context, to, 0);',
        '',
        'a refused rollback keeps writes frozen for at most fifteen minutes > then the run stays live if the old collection was deleted after users were moved',
      ],
      [
        'await assertNotDeleted(context, to, points);\n  await context.renewLease();',
        'await context.renewLease();',
        'an old collection that is deleted after the rollback has begun > keeps users on the new one: uploading, before deploy-old',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/switch-back.ts',
    'tests/migration/contract/steps/rollback.test.ts',
    [
      [
        "kind === 'not-returned' || kind === 'unavailable'",
        "kind === 'not-returned'",
        'users can write again even if nothing proves that the old version runs again > in a rollback, on the new one, deployed again: the backend does not answer health',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/backend-actions.ts',
    'tests/migration/contract/steps/lock-before-change.test.ts',
    [['  await renewLease();\n  if (from !== to)', '  if (from !== to)']],
  ),

  // Migrations of stores in an unusual state: the new version already deployed, memories without a user, aliases, vectors that
  // cannot be read, and deletions that an optimization undoes.
  ...mutantsOf(
    'lib/migration/steps/preflight.ts',
    'tests/migration/contract/steps/same-version.test.ts',
    [["deployed?.facts?.deployed === 'new'", "deployed?.facts?.deployed === 'none'"]],
  ),
  ...mutantsOf(
    'lib/migration/steps/entities.ts',
    'tests/migration/contract/steps/same-version.test.ts',
    [
      ['plan.sameVersion === true && !plan.inPlace', 'false'],
      ["limitedChanges: 'none',", ''],
    ],
  ),
  // A rollback that is killed between two records.
  ...mutantsOf(
    'lib/migration/steps/switch-back.ts',
    'tests/migration/contract/steps/interrupted-rollback.test.ts',
    [
      [
        "restores || plan.beginsBase ? 'begun'",
        "restores ? 'begun'",
        'writes to the new version survive a kill, the loss of the old collection and its restore by hand',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/switch-back.ts',
    'tests/migration/contract/steps/interrupted-rollback.test.ts',
    [
      [
        'if (hasTimedOut && isRequested) return {',
        'if (hasTimedOut) return {',
        'the request for a deployment > is sent, however late, after a kill right before it',
      ],
      [
        "isLast || kind !== 'not-returned'",
        'true',
        'the request for a deployment > is sent again, however late, if the deployment was reported as done and was not',
      ],
      [
        "isLast || kind !== 'not-returned'",
        "kind !== 'not-returned'",
        'the request for a deployment > is not repeated forever if the deployment is reported as done and is not',
      ],
      [
        'isRequested: hasTimedOut',
        'isRequested: false',
        'the request for a deployment > does not keep writes frozen forever if every attempt is killed',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/rollback.ts',
    'tests/migration/contract/steps/interrupted-rollback.test.ts',
    [
      [
        "isFrozen: run.phase === 'switching'",
        'isFrozen: false',
        'writes are opened in time if the window has expired and the old collection cannot be restored',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/runs/run-step.ts',
    'tests/migration/contract/steps/refused-rollback.test.ts',
    [
      [
        'run = { ...enterNextPhase(run,',
        'run = { ...run, ...enterNextPhase(run,',
        'deletions accepted for a window are not accepted for its rollback',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/return-end.ts',
    'tests/migration/contract/steps/refused-rollback.test.ts',
    [
      [
        'if (error instanceof Refusal && !context.signal.aborted) await askAgain(context);',
        '',
        'a webhook that repeats its refusal of a request gets a new request',
      ],
      [
        'failing: { since }, isFrozen: true',
        'failing, isFrozen: true',
        'a restore does not restart the time limit of a refusal',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/runs/journal.ts',
    'tests/migration/contract/steps/interrupted-rollback.test.ts',
    [
      [
        'return v.parse(v.optional(journalSchema), upgradeNotes(recorded));',
        'return v.is(journalSchema, recorded) ? recorded : undefined;',
      ],
    ],
  ),
  // Migrations of stores in an unusual state, continued.
  ...mutantsOf(
    'lib/migration/steps/switch-back.ts',
    'tests/migration/contract/steps/same-version.test.ts',
    [["run.plan.sameVersion ? 'deploy-new' : 'deploy-old'", "'deploy-old'"]],
  ),
  ...mutantsOf(
    'lib/migration/steps/switch-back.ts',
    'tests/migration/contract/steps/same-version.test.ts',
    [
      ["if (worksOnOld && sameVersion) return { kind: 'returned' };", ''],
      [
        ' || (sameVersion && to === live)',
        '',
        'a backend that runs the new version already > is opened again after a refused window: {"inPlace":true}',
      ],
    ],
  ),
  ...mutantsOf('lib/migration/points.ts', 'tests/migration/unit/scan.test.ts', [
    ['OWNER_KEYS.find((name)', 'OWNER_KEYS.slice(0, 1).find((name)'],
    ["key === 'user_id' ? id : ", "key !== 'run_id' ? id : "],
  ]),
  ...mutantsOf('lib/migration/scan.ts', 'tests/migration/unit/scan.test.ts', [
    ['reasons.includes(undefined) ? undefined : reasons[0]', 'reasons[0]'],
  ]),
  ...mutantsOf('lib/migration/points.ts', 'tests/migration/contract/steps/vectors.test.ts', [
    ['return first !== undefined && second !== undefined;', 'return firstText !== undefined;'],
  ]),
  ...mutantsOf(
    'lib/migration/steps/slot-change.ts',
    'tests/migration/contract/steps/deletions.test.ts',
    [
      [
        'await waitUntilIdle(context, collection);\n  const slotChange = await',
        'const slotChange = await',
      ],
      [
        'await waitUntilIdle(context, collection);\n  await services.vectors.updateCollection',
        'await services.vectors.updateCollection',
      ],
      ['current === 0 ? run.slotChange : undefined', 'run.slotChange'],
      ['await vectors.deletePoints(collection, { ids });', ''],
      ['return version <= position;', 'return true;'],
      ["createOptimizerUpdate(slotChange.threads ?? 'auto')", 'createOptimizerUpdate(0)'],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/backend-actions.ts',
    'tests/migration/contract/steps/aliases.test.ts',
    [
      [
        ' && ownCollections.includes(collection)',
        '',
        'aliases of the old collection > stay where another program has moved them',
      ],
      [' || run.window?.aliases)', ')'],
      [
        '[undefined, ...listSwitchableCollections(run)]',
        'listSwitchableCollections(run)',
        'aliases of the old collection > are created again if they were deleted with the new collection',
      ],
      ['await updateRun({ window: { ...windowOf(run), aliases } });', ''],
      [
        "if (!onAliasesRefused || !isRefusal(error, 'RefusedByService')) throw error;",
        'throw error;',
        'aliases of the old collection > that cannot be moved do not keep writes frozen if no collection is left to return to',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/unreadable-vectors.ts',
    'tests/migration/contract/steps/preflight.test.ts',
    [
      [
        ".includes('null')",
        " === 'null'",
        'the preflight > names the points whose vectors are not numbers, because no collection accepts a copy of them',
      ],
      [
        'vector !== undefined && ',
        'vector !== undefined || ',
        'the preflight > names the points whose vectors are not numbers, because no collection accepts a copy of them',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/adapters/qdrant/snapshots.ts',
    'tests/migration/unit/adapters/qdrant/snapshots.test.ts',
    [
      ['response?.status === TOO_LARGE', 'response?.ok === false'],
      ["      expect: '100-continue',", ''],
      [', isRetried: false };', ' };', 'a collection in the middle of a restore is read once'],
    ],
  ),
  ...mutantsOf('lib/migration/adapters/qdrant.ts', 'tests/migration/unit/adapters/qdrant.test.ts', [
    ['isRefusedWith(failure, 404)', 'isRefusedWith(failure, 410)'],
  ]),

  // Authentication.
  ...mutantsOf('lib/ledger/auth/access-tokens.ts', 'tests/ledger/unit/auth/access-tokens.test.ts', [
    ['discovery.issuer !== issuer', 'discovery.issuer === undefined'],
    ['algorithms: ALGORITHMS,', ''],
    ["requiredClaims: ['exp', 'sub'],", ''],
    ['aud === undefined ? client_id === audience : ', ''],
    ['if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;', 'throw error;'],
    ['if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;', 'throw error;'],
    ["sub !== '' && ", ''],
    ['[scope, scp]', '[scope]'],
    ["grantedScopes.includes('write') ? 'write' : grantedScopes[0]", 'grantedScopes[0]'],
  ]),
  ...mutantsOf('lib/ledger/auth/authenticate.ts', 'tests/ledger/unit/auth/authenticate.test.ts', [
    ['readTime() - entry.since < milliseconds', 'readTime() - entry.since <= milliseconds'],
    ['key.revokedAt !== undefined', 'key.revokedAt === 0'],
    ['refusedKeys.set(secret, reason);', ''],
    ['createCache<string>(REFUSED_CACHE_MS, readTime)', 'createCache<string>(CACHE_MS, readTime)'],
    ['authorization === undefined && anonymous', 'anonymous'],
    ["(method === 'GET' || method === 'HEAD')", "method !== 'DELETE'"],
    ['entries.size > MAX_CACHED_KEYS &&', ''],
  ]),
  ...mutantsOf('lib/ledger/store/api-keys.ts', 'tests/ledger/contract/authentication.test.ts', [
    ['item.revoked_at ?? clock().getTime()', 'clock().getTime()'],
    ['if (!ID.test(id)) throw createUnknownKeyError(id);', ''],
    ['if (!SECRET.test(secret)) return undefined;', ''],
  ]),
  ...mutantsOf('lib/ledger/auth/caller.ts', 'tests/ledger/unit/auth/access-tokens.test.ts', [
    ['`${issuer}\\n${subject}`', 'subject'],
  ]),

  // Requests and responses.
  ...mutantsOf('lib/ledger/http/error-reply.ts', 'tests/ledger/unit/http/error-reply.test.ts', [
    [
      "replyWithFailure(409, { error: 'conflict', message, existing_id })",
      "replyWithFailure(400, { error: 'conflict', message, existing_id })",
    ],
    ["'conflict',\n    headers: { 'retry-after': '1' }", "'conflict'"],
  ]),
  ...mutantsOf('lib/ledger/http/json-body.ts', 'tests/ledger/unit/http/json-body.test.ts', [
    ['bytes.length > MAX_BODY_BYTES', 'bytes.length >= MAX_BODY_BYTES'],
    ['fatal: true', 'fatal: false'],
    ['if (Array.isArray(value)) throw createNotObjectError();', ''],
    ['refuseEncodedBody(event);', ''],
    ['JSON.parse(text);\n    return', 'JSON.parse(replaceLossyNumbers(text));\n    return'],
    ['column (\\d+)\\)$/', 'column (\\d+)\\)/'],
  ]),
  ...mutantsOf('lib/ledger/http/json-text.ts', 'tests/ledger/unit/http/json-body.test.ts', [
    ['names.length > MAX_DEPTH', 'names.length > 2 * MAX_DEPTH'],
    ["else if ('}]'.includes(first)) names.pop();", ''],
    ['if (names?.has(name)) throw createRepeatedKeyError(name);', ''],
    ["quotedName.includes('\\\\') ? unquote(quotedName) :", ''],
    ['- Number(exponent) > 2', '- Number(exponent) > 3'],
    ['- Number(exponent) > 2', '> 2'],
  ]),
  ...mutantsOf('lib/ledger/http/text-endpoint.ts', 'tests/ledger/unit/http/text-endpoint.test.ts', [
    ['?? 0) > 0', '?? 0) >= 0'],
    ["weightByCoding.get('gzip') ??", ''],
    ['if (reply.status === 304) return reply;', ''],
    ['query.v === hash &&', "'v' in query &&"],
  ]),
  // Batches that the database processes only in part.
  ...mutantsOf('lib/shared/batches.ts', 'tests/shared/unit/batches.test.ts', [
    ['error instanceof UnprocessedError ||', ''],
    ['pending = await send(pending,', 'await send(pending,'],
  ]),
  // Imports: banks' tables, their columns and amounts, and rows that were imported before.
  ...mutantsOf('lib/ledger/import/row-ids.ts', 'tests/ledger/unit/import/plan.test.ts', [
    ['[bankId, date, writtenAmount,', '[bankId, writtenAmount,'],
    ['account ?? entry.account', 'account ?? null'],
  ]),
  ...mutantsOf('lib/ledger/import/row-ids.ts', 'tests/ledger/unit/import/text-encoding.test.ts', [
    ['rereadText(filledCells.join(CELL_END))', 'rereadText("")'],
  ]),
  ...mutantsOf('lib/ledger/import/fees.ts', 'tests/ledger/unit/import/amount-columns.test.ts', [
    ["gainedMatches === 0 && rule === 'added'", 'gainedMatches === 0'],
    ["gainedMatches < 0 || rule === 'included'", 'gainedMatches < 0'],
    ['isChosen\n    ? 1\n    : ', ''],
  ]),
  ...mutantsOf('lib/ledger/import/row-ids.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['ID_PLACEHOLDER.test(text)', "text === ''"],
    ['SHORTENED_ID.test(id) ||', ''],
    ['(isColumnRounded && ZEROS_AT_END.test(id))', 'ZEROS_AT_END.test(id)'],
  ]),
  ...mutantsOf('lib/ledger/import/direction.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['!hasWords || hasOtherNegatives', '!hasWords'],
    ['word !== null && (hasGivenWords', '(hasGivenWords'],
    ["hasUnknownWords || onlyDirection !== 'income'", "onlyDirection !== 'income'"],
    ["hasUnknownWords || onlyDirection !== 'income'", 'hasUnknownWords'],
  ]),
  ...mutantsOf('lib/ledger/import/table-columns.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['isPartlyFilled(sample) && ', ''],
  ]),
  ...mutantsOf('lib/ledger/import/read-table.ts', 'tests/ledger/unit/import/currencies.test.ts', [
    ["side === 'debit' ? debitColumn : creditColumn", 'debitColumn'],
    ['columns.currency.length === 0 ? header', 'true ? header'],
  ]),
  ...mutantsOf('lib/ledger/import/other-names.ts', 'tests/ledger/unit/import/plan.test.ts', [
    ['!pairsUnderName.has(row) && !deletedRows.has(row)', '!pairsUnderName.has(row)'],
    ['!pairsUnderName.has(row) && !deletedRows.has(row)', 'false'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/overlapping-imports.ts',
    'tests/ledger/unit/import/plan.test.ts',
    [['unknownRows.filter(({ date }) => first <= date && date <= last)', 'unknownRows']],
  ),
  ...mutantsOf(
    'lib/ledger/import/possible-duplicates.ts',
    'tests/ledger/unit/import/plan.test.ts',
    [['createBankIdFinder(rows, ledger),', '']],
  ),
  ...mutantsOf('lib/ledger/import/split-rows.ts', 'tests/ledger/unit/import/questions.test.ts', [
    ['isNamedSplit && isSum(', 'isSum('],
    ['isNamedSplit && isSum(entry, entries.slice(n + 1, n + 1 + MAX_PARTS))', 'isNamedSplit'],
  ]),
  ...mutantsOf('lib/ledger/import/currencies.ts', 'tests/ledger/unit/import/currencies.test.ts', [
    ['accountCodes.filter((code) => possibleCodes.includes(code))', 'accountCodes'],
    ['? matchingCode : normalize(text)', '? matchingCode\n      : text.trim()'],
    ['matchingCode !== undefined && otherCodes.length === 0', 'matchingCode !== undefined'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/amount-columns.ts',
    'tests/ledger/unit/import/currencies.test.ts',
    [
      ['ownColumns.length === 1 ? [...ownColumns, ...columns]', 'false ? []'],
      ['if (codes.some(({ size }) => size === 1)) return columns;', ''],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/import/amount-columns.ts',
    'tests/ledger/unit/import/statement.test.ts',
    [
      ['if (!hasFee && names', 'if (names'],
      ['names.some((name) => TAX.test(name)) && isNumeric(samples[grossColumn])', 'false'],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/import/table-columns.ts',
    'tests/ledger/unit/import/currencies.test.ts',
    [['startsWith(`${stem} `)', "startsWith('quux')"]],
  ),
  ...mutantsOf(
    'lib/ledger/import/decimal-separator.ts',
    'tests/ledger/unit/import/statement.test.ts',
    [
      ['...bankTexts.filter(usesWholeUnits)', ''],
      ['(?:Rp|Ft)(?!\\p{L})/u', '(?:Rp|Ft)(?!\\p{L})/iu'],
    ],
  ),
  ...mutantsOf('lib/ledger/import/statement-rows.ts', 'tests/ledger/unit/import/plan.test.ts', [
    ['id === null || usedIds.has(id)', 'id === null'],
    ['...otherIds(), ...roundedIds', '...otherIds()'],
  ]),
  ...mutantsOf('lib/ledger/import/entry.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['[notes]), ...otherTexts]', '[notes])]'],
  ]),
  ...mutantsOf('lib/ledger/import/read-table.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['payers.length === 0 ? columns.description : withoutRecipients', 'columns.description'],
    ['!ACCOUNT_NUMBER.test(text)', 'true'],
  ]),
  ...mutantsOf('lib/ledger/import/table.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['looksLikeAmount(text) && !isNumberedName(text)', 'looksLikeAmount(text)'],
  ]),
  ...mutantsOf('lib/ledger/import/table-columns.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['n === 0 || !isConstant(samples[index])', 'true'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/decimal-separator.ts',
    'tests/ledger/unit/import/statement.test.ts',
    [
      ['filledCells.some((text) => NO_GROUP.test(text))', 'true'],
      ["group === '.'", 'false'],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/import/direction.ts',
    'tests/ledger/unit/import/bank-statements.test.ts',
    [
      ["onlyDirection === 'income' ? 'expense' : 'income'", "'income'"],
      ['onlyDirection === undefined ||\n      (usesColumn', 'true ||\n      (usesColumn'],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/import/table-columns.ts',
    'tests/ledger/unit/import/bank-statements.test.ts',
    [
      ["STATUS_NAME.test(names[index] ?? '')", 'false'],
      ['datedRows.length === 0 || datedRows.length === rows.length', 'true'],
      ['areDirectionLetters(samples[index]?.cells ?? [])', 'true'],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/import/entry-words.ts',
    'tests/ledger/unit/import/bank-statements.test.ts',
    [
      [String.raw`wpłata)\b.{0,20}\b`, String.raw`wpłata)\b.{0,20}`],
      [String.raw`dziekujemy)\b`, 'dziekujemy)'],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/import/direction-words.ts',
    'tests/ledger/unit/import/bank-statements.test.ts',
    [['isPair && letters.length === words.size', 'isPair']],
  ),
  ...mutantsOf('lib/ledger/import/separate-rows.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ["cell.trim().replace(/[.,]$/, '')", 'cell.trim()'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/separate-rows.ts',
    'tests/ledger/unit/import/bank-statements.test.ts',
    [['isRegularRow && hasDate && isUnposted(row)', 'false']],
  ),
  ...mutantsOf(
    'lib/ledger/import/read-table.ts',
    'tests/ledger/unit/import/bank-statements.test.ts',
    [
      ['...findOdd(({ texts }) => texts.length > 0),', ''],
      ["...findOdd(({ line }) => /^\\W*\\d{4}/.test(dateByLine.get(line) ?? '')),", ''],
    ],
  ),
  ...mutantsOf('lib/ledger/import/import-id.ts', 'tests/ledger/unit/import/import-id.test.ts', [
    ['if (!usedIds.has(id)) return id', 'return id'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/text-encoding.ts',
    'tests/ledger/unit/import/text-encoding.test.ts',
    [['if (/[ךםןףץ]/.test(before) && letter.test(character)) return -3;', '']],
  ),
  ...mutantsOf('lib/ledger/import/total-rows.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['isNamedTotal(entry) &&\n      rowCount > 1 &&\n      [', 'rowCount > 1 && ['],
    ['rowCount > 1', 'rowCount > 0'],
    ['[totalCents, sectionCents].some(', '[sectionCents].some('],
    ['...findSums(entries.toReversed())', ''],
    ['movedCents === 0 || ', 'true || '],
  ]),
  ...mutantsOf('lib/ledger/import/separate-rows.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['!hasDate && isOtherHeader(cells)', 'false'],
    ['...refuseEntriesAbove(table, readCell, isDate)', ''],
    ['isDate(text) || /\\d/.test(text)', 'isDate(text)'],
    ['findMarkingFlag(row, flags)?.reason ??', ''],
  ]),
  ...mutantsOf('lib/ledger/import/row-amounts.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['hasType || isInverted ?', 'hasType ?'],
    ['hasBalance || hasMinus', 'hasMinus'],
    ["amount.direction ?? 'income'", "'income'"],
    ['hasMinus || !cells.some(isPlus)', '!cells.some(isPlus)'],
    ['|| cells.every(isPlus)', ''],
  ]),
  ...mutantsOf('lib/ledger/import/dates.ts', 'tests/ledger/unit/import/statement.test.ts', [
    ['if (OTHER_CALENDARS.test(digits))', 'if (false)'],
    ['.replace(CROATIAN,', '.replace(/^$/,'],
    [".replaceAll('ı', 'i')", ''],
    ["(hasYearAtEnd && each.order !== 'ymd')", 'false'],
  ]),
  ...mutantsOf('lib/ledger/import/dates.ts', 'tests/ledger/unit/import/advice.test.ts', [
    ['if (options.chosenOrder) requireOrder', 'if (false) requireOrder'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/check-entries.ts',
    'tests/ledger/unit/import/bank-statements.test.ts',
    [
      ['incomeEntries.length * 2 > entries.length', 'false'],
      ['negativeEntries.some(isPayment) &&', ''],
      ['negativeEntries.every((each) => isPayment(each) || hasText(isCardRefund)(each))', 'true'],
      ['reversedCount > agreeingCount', 'false'],
      ['currencies.length > 1', 'false'],
      ['rows < entries.length * 0.8', 'true'],
    ],
  ),
  ...mutantsOf('lib/ledger/import/plan.ts', 'tests/ledger/unit/import/plan.test.ts', [
    [
      '!usedTransactions.has(transaction) && toMatchKey(transaction) === toMatchKey(row)',
      '!usedTransactions.has(transaction)',
    ],
    ['!usedTransactions.has(transaction) && ', ''],
    ['isFromThisLedger && id && createdAt', 'id && createdAt'],
    ['!importsDeleted && wasImported(row)', 'wasImported(row)'],
    [
      'recorded?.isPossiblyCreated(row) || possiblyDeleted.has(row)',
      'recorded?.isPossiblyCreated(row)',
    ],
    [
      'overlap.missingFromFile.filter((transaction) => !pairedTransactions.has(transaction))',
      'overlap.missingFromFile',
    ],
    [
      'askAboutAccount({ ...overlap, unexplained, missing })',
      'askAboutAccount({ ...overlap, unexplained: [], missing })',
    ],
    ['isFromThisLedger && id && createdAt', 'isFromThisLedger && createdAt'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/plan-with-categories.ts',
    'tests/ledger/unit/import/plan.test.ts',
    [['options.isAccountKnown || namesAccount', 'options.isAccountKnown']],
  ),
  ...mutantsOf('lib/ledger/import/other-names.ts', 'tests/ledger/unit/import/plan.test.ts', [
    ['imports.has(importId)', 'true'],
    ['if (account === undefined) return knownNames;', 'if (account === undefined) return [];'],
    ['[undefined, ...knownNames.filter(differsInCase)]', '[undefined]'],
    ['[undefined, ...knownNames.filter(differsInCase)]', '[undefined, ...knownNames]'],
    ['deleted.push(row)', 'undefined'],
    ['deleted: [], possiblyDeleted: deleted', 'deleted: [], possiblyDeleted: []'],
  ]),
  ...mutantsOf(
    'lib/ledger/import/overlapping-imports.ts',
    'tests/ledger/unit/import/plan.test.ts',
    [
      ['const MIN_ROWS_OF_ACCOUNT = 10', 'const MIN_ROWS_OF_ACCOUNT = 9'],
      ['const MAX_MISSING_SHARE = 1 / 4', 'const MAX_MISSING_SHARE = 1'],
      ['otherCount < equalPairs.length && !isAccountDoubtful', '!isAccountDoubtful'],
      [
        'otherCount < equalPairs.length && !isAccountDoubtful',
        'otherCount === 0 && !isAccountDoubtful',
      ],
      ['mayRepeatByChance && unexplainedImports.has(importId)', 'mayRepeatByChance'],
      ['missing.length > 0 &&', ''],
      ['rows.length <= MAX_CHANCE_ROWS', 'true'],
      ['const MAX_CHANCE_ROWS = 2', 'const MAX_CHANCE_ROWS = 1'],
      ['bankId !== null || hasBalance', 'hasBalance'],
      ['bankId !== null || hasBalance', 'bankId !== null'],
      ['date === rows[0]?.date', 'true'],
      ['period.first <= date && date <= period.last', 'true'],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/import/possible-duplicates.ts',
    'tests/ledger/unit/import/plan.test.ts',
    [
      ['nearDate >= firstDate', 'true'],
      ['!recorded?.isOnlyCategorised(transaction)', 'true'],
      ['transaction.createdAt !== transaction.updatedAt && !recorded', '!recorded'],
      ['words.has(word)', 'true'],
      ['measureDistance(transaction) <= MAX_DAYS_PENDING', 'true'],
      ['`${row.type} ${period} ${key}`', '`${period} ${key}`'],
      ['({ amount }) => [amount]', '() => [0]'],
      ['[period - 1, period, period + 1]', '[period]'],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/import/missing-years.ts',
    'tests/ledger/unit/import/missing-years.test.ts',
    [
      ['isShortPeriod && otherDates.length === 0', 'otherDates.length === 0'],
      ['isShortPeriod && otherDates.length === 0', 'isShortPeriod'],
      ['areDatesOrdered && surroundingDates.length === 2', 'surroundingDates.length === 2'],
      ['periods.length !== 1', 'periods.length === 0'],
    ],
  ),
  // Preconditions, and requests that match no route.
  ...mutantsOf('lib/ledger/http/preconditions.ts', 'tests/ledger/unit/http/preconditions.test.ts', [
    ['record === `${TAG_LETTERS[kind]}${id}`', 'record !== undefined'],
    [
      'return (version) => versions.includes(version)',
      'return (version) => versions.some((each) => version >= each)',
    ],
    ["!knownTags.includes('*') && !knownTags", "!knownTags.includes('*') || !knownTags"],
    [".replace(/^W\\//, '')", ''],
  ]),
  ...mutantsOf('lib/ledger/http/no-route.ts', 'tests/ledger/unit/http/no-route.test.ts', [
    [
      'allowedMethods.length === 0 || allowedMethods.includes(method)',
      'allowedMethods.length === 0',
    ],
    ['allowedMethods && !allowedMethods.includes(method)', 'false'],
  ]),

  // Search.
  ...mutantsOf('lib/ledger/domain/search.ts', 'tests/ledger/contract/transaction-search.test.ts', [
    [
      'amount < minAmount',
      'amount <= minAmount',
      'a search finds > the expected rows for {"min_amount":80,"max_amount":"80.00"}',
    ],
    [
      'amount > maxAmount',
      'amount >= maxAmount',
      'a search finds > the expected rows for {"min_amount":80,"max_amount":"80.00"}',
    ],
    [
      'words.every(',
      'words.some(',
      'a search finds > the expected rows for {"q":"vegetables farmers"}',
    ],
    ['words.length > 0 && ', '', 'a search finds > the expected rows for {"q":"´"}'],
    [".replace(ACCENTS, '')", '', 'a search finds > the expected rows for {"q":"cafe zurich zoe"}'],
    [
      '.toUpperCase()\n    .replace(',
      '.toLowerCase()\n    .replace(',
      'a search finds > the expected rows for {"q":"market"}',
    ],
  ]),
  ...mutantsOf(
    'lib/ledger/domain/pagination.ts',
    'tests/ledger/contract/transaction-search.test.ts',
    [
      [
        'a.amount - b.amount || comparePositions(b, a)',
        'a.amount - b.amount || comparePositions(a, b)',
        'a search with sort=amount has that order',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/service/searches.ts',
    'tests/ledger/contract/transaction-search.test.ts',
    [
      [
        'candidates > MAX_SEARCHED_ROWS',
        'candidates > MAX_SEARCHED_ROWS + 1',
        'a search over the row limit is refused, with errors for start_date and end_date',
      ],
      [
        'sumRows(items)',
        'sumRows(page.items)',
        'a search adds up all rows that it finds, and shows one page',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/domain/day-histogram.ts',
    'tests/ledger/unit/domain/day-histogram.test.ts',
    [
      ['addDays(toDate(newerMonth, 1), -1), count', 'toDate(newerMonth, 1), count'],
      ['part.count + count > maxRows', 'part.count + count >= maxRows'],
    ],
  ),

  // Graph dumps, which another program may have written.
  ...mutantsOf(
    'lib/migration/graph/schema-statement.ts',
    'tests/migration/unit/graph/schema-statement.test.ts',
    [
      ['  reader.assertEnd();\n', ''],
      ['(?:[^`\\\\]|``)+`$/su', '(?:[^`]|``)+`$/su'],
      ['!TYPE_NAMES.has(token) && ', 'token === undefined && '],
      ['if (depth > MAX_DEPTH)', 'if (depth < 0)'],
    ],
  ),
  ...mutantsOf('lib/migration/graph/dump.ts', 'tests/migration/unit/graph/dump.test.ts', [
    ['if (count === contents[kind]) return;', 'return;'],
    ['line.length <= MAX_LINE_LENGTH', 'true'],
  ]),
  ...mutantsOf('lib/migration/ports/artifacts.ts', 'tests/migration/unit/graph/dump.test.ts', [
    ['length > MAX_LINE_LENGTH', 'false'],
  ]),

  // The local service, and other users of its machine.
  ...mutantsOf('local/data-folder.ts', 'tests/ledger/unit/local/data-folder.test.ts', [
    ['chmodSync(join(path, name), 0o600)', 'chmodSync(join(path, name), 0o640)'],
    ['if (ownFiles.length === entries.length) chmod', 'chmod'],
    ['entry.isFile() && ', ''],
  ]),
  ...mutantsOf('local/private-sockets.ts', 'tests/ledger/unit/local/private-sockets.test.ts', [
    ['isShort ? folder : SHORT_FOLDER', 'folder'],
  ]),
  ...mutantsOf('local/engine.ts', 'tests/ledger/start/closed-to-others.full.test.ts', [
    ['if (!isolate) return', 'if (isolate) return'],
    ['process.umask(0o077)', 'process.umask()'],
  ]),
  ...mutantsOf('local/edge.ts', 'tests/ledger/unit/local/edge.test.ts', [
    ['bytes > MAX_BODY_BYTES', 'false'],
    ['responseBytes > MAX_RESPONSE_BYTES', 'responseBytes > MAX_RESPONSE_BYTES + 1'],
    ["request.headersDistinct.host?.join(', ')", 'request.headers.host'],
    ["values.join(',')", 'values[0]'],
    ["site === 'none' || ", 'true || '],
    [" && headers['sec-fetch-dest'] === 'document'", ''],
    ["path.split('/').map(maskLong)", "path.split('/')"],
  ]),
  ...mutantsOf('local/expiry.ts', 'tests/ledger/contract/local-expiry.test.ts', [
    ["'expires_at <= :now'", "'expires_at < :now'"],
    [
      'new DeleteCommand({ TableName, Key, ...expiryCondition })',
      'new DeleteCommand({ TableName, Key })',
    ],
  ]),
  // The removal of a ledger.
  ...mutantsOf('lib/ledger/store/removal.ts', 'tests/ledger/contract/ledger-removal.test.ts', [
    [
      ' && batch.some(({ pk }) => pk !== item.pk)',
      ' && false',
      'a deletion can be repeated after an interruption at any point: interrupted-and-small',
    ],
  ]),
  ...mutantsOf('lib/ledger/store/ledger-items.ts', 'tests/ledger/contract/ledger-removal.test.ts', [
    ['  yield* readPartition(database, keys.replies);\n', ''],
    ['  if (entry) yield entry;\n', ''],
  ]),
  // Migrations: artifacts in files, and the state machine.
  ...mutantsOf(
    'lib/migration/adapters/file-artifacts.ts',
    'tests/migration/contract/artifacts/file-artifacts.test.ts',
    [
      ['content, PRIVATE_FILE', 'content'],
      ['accessRestriction ??= restrictAccess();', ''],
    ],
  ),

  ...mutantsOf(
    'serverless/migration/machine.ts',
    'tests/migration/workflow/memory-migration.test.ts',
    [
      ['Seconds: 43_200', 'Seconds: 28_800'],
      [
        "needsPerson', BooleanEquals: true",
        "needsPerson', BooleanEquals: false",
        'the definition > does not wait for a person who has confirmed',
      ],
    ],
  ),

  // Digests of months.
  ...mutantsOf('lib/ledger/domain/month-digest.ts', 'tests/ledger/contract/months.test.ts', [
    ['readBigUInt64BE() * ROW_COUNT_MODULUS + 1n', 'readBigUInt64BE() * ROW_COUNT_MODULUS'],
    [
      '((sum % ROW_COUNT_MODULUS) + ROW_COUNT_MODULUS) % ROW_COUNT_MODULUS',
      'BigInt(rows)',
      'the digest is null for the rows of an earlier release until a repair computes it',
    ],
  ]),
  // Costs of a stage, and its parameters.
  ...mutantsOf('bench/ledger/costs/bills.ts', 'tests/ledger/wiring/costs.test.ts', [
    ['isPublic(route) ? findLargestResponse(route) : 0', '0'],
    ['Math.min(free, rate * timeoutSeconds)', 'rate * timeoutSeconds'],
    [
      'sum(routes.map(({ rate }) => toMonthly(rate)));\n  const kilobytes',
      'toMonthly(1);\n  const kilobytes',
    ],
    [
      'warm * PRICES.backup.usd + cold * PRICES.coldBackup.usd',
      '(warm + cold) * PRICES.backup.usd',
    ],
  ]),
  ...mutantsOf('bench/ledger/costs/stage-limits.ts', 'tests/ledger/wiring/costs.test.ts', [
    ['cold: (daysKept - daysWarm) / days', 'cold: daysKept / days'],
    ["day === '*' ? 1 : DAYS_PER_MONTH", '1'],
  ]),
  ...mutantsOf('serverless/parameters.ts', 'tests/shared/wiring/parameters.test.ts', [
    ["parameters[requiredName] === ''", "parameters[requiredName] !== ''"],
  ]),
  // Versions of the schema, and data of earlier releases.
  ...mutantsOf('lib/ledger/store/schema.ts', 'tests/ledger/contract/schema-versions.test.ts', [
    [
      'if (version > current) throw',
      'if (version > current + 99) throw',
      'an item of a newer version > is not read, and the error names the item and what to do',
    ],
    [
      'upgrades.slice(version).reduce',
      'upgrades.reduce',
      'an item of an older version > with { v: 2 } is read in the form of this release, and stays unchanged in the table',
    ],
    [
      'attribute_exists(pk) AND ',
      '',
      'an item of an older version > is not created again by an upgrade after another request deleted it',
    ],
    [
      '      values: condition.values,\n',
      '',
      'an item of an older version > is upgraded before a write changes it, like all other items of that transaction',
    ],
    [
      'Item: stamp(Put.Item ?? {})',
      'Item: Put.Item ?? {}',
      "the list of ledgers > gets a ledger's entry in the transaction that creates the ledger's first sequence, and later ids need no further write",
    ],
    [
      'Put: addCondition(stampedPut, IS_NOT_NEWER, values)',
      'Put: stampedPut',
      'an item of a newer version > is not changed by a put, nor is anything else in the transaction',
    ],
    [
      'Delete: addCondition(Delete, IS_NOT_NEWER, values)',
      'Delete',
      'an item of a newer version > is not changed by a deletion, nor is anything else in the transaction',
    ],
    [
      'Update: addCondition({ ...Update, UpdateExpression }, currentCondition, values)',
      'Update',
      'an item of an older version > with {} is read in the form of this release, and stays unchanged in the table',
    ],
    [
      'if (isOlderItem) return',
      'if (isOlderItem && !Delete) return',
      'an item of an older version > can be deleted under a condition that only the form of this release meets',
    ],
    [
      'attempt === MAX_ATTEMPTS',
      'attempt > 0',
      'an item of an older version > is upgraded before a write changes it, like all other items of that transaction',
    ],
    [
      '[...range.projection, ...schema.readAttributes]',
      '[...range.projection]',
      'an item of an older version > with {} is read in the form of this release, and stays unchanged in the table',
    ],
    [
      '[...range.projection, ...schema.readAttributes]',
      "[...range.projection, 'v']",
      'an item of an older version > with {} is read in the form of this release, and stays unchanged in the table',
    ],
    [
      'ConditionExpression: existing ? ',
      'ConditionExpression: false ? ',
      'an item of an older version > with {} is read in the form of this release, and stays unchanged in the table',
    ],
  ]),
  ...mutantsOf('lib/ledger/store/sequences.ts', 'tests/ledger/contract/schema-versions.test.ts', [
    [
      '{ Put: { Item: keys.registration }, onConditionFailed: createNoConditionError },',
      '',
      'a ledger whose items all have an older version > can be listed, changed and deleted from, and then has no drift',
    ],
  ]),
  ...mutantsOf(
    'lib/ledger/store/schema-sweep.ts',
    'tests/ledger/contract/schema-versions.test.ts',
    [
      [
        'ledgerId === undefined && !isLedgerListOrApiKey(pk)',
        'ledgerId === undefined',
        'a sweep > upgrades every item of ledgers, of the list of ledgers and of API keys once',
      ],
      [
        'ledgerId === undefined && !isLedgerListOrApiKey(pk)',
        'false',
        'a sweep > upgrades every item of ledgers, of the list of ledgers and of API keys once',
      ],
      [
        ' && !listedIds.has(ledgerId)) unlistedIds',
        ' && listedIds.has(ledgerId)) unlistedIds',
        'a sweep > adds ledgers that an earlier release created to the list',
      ],
      [
        '  await upgradeBatch();\n  const table',
        '  const table',
        'a sweep > upgrades every item of ledgers, of the list of ledgers and of API keys once',
      ],
    ],
  ),
  ...mutantsOf('lib/ledger/store/schema.ts', 'tests/ledger/contract/schema-versions.test.ts', [
    [
      'if (!(error instanceof StaleRecordError)) throw error;',
      'throw error;',
      'an item of an older version > keeps what another request writes between its read and its upgrade',
    ],
    [
      'if (latest) upgradedCount += await upgradeStored(database, [latest], schema);',
      '',
      'an item of an older version > keeps what another request writes between its read and its upgrade',
    ],
  ]),
  ...mutantsOf(
    'lib/ledger/store/list-of-ledgers.ts',
    'tests/ledger/contract/schema-versions.test.ts',
    [
      [
        ", ConditionExpression: 'attribute_not_exists(pk)' }",
        ' }',
        'a sweep > neither adds a ledger that is being deleted nor counts one that another request adds',
      ],
      [
        "'attribute_exists(pk)' }",
        "'attribute_exists(pk) OR attribute_not_exists(pk)' }",
        'a sweep > neither adds a ledger that is being deleted nor counts one that another request adds',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/ledger/store/verification/all-ledgers.ts',
    'tests/ledger/contract/verification/all-ledgers.test.ts',
    [
      ['balance.hasAssignedIds() && !listedIds', '!listedIds'],
      ['balance.hasAssignedIds() && !listedIds.has(ledgerId)', 'balance.hasAssignedIds()'],
      ['!balances.has(ledgerId)', 'false'],
    ],
  ),
  ...mutantsOf('local/convert-data.ts', 'tests/ledger/contract/data-of-earlier-releases.test.ts', [
    [
      '  addVersions,\n',
      '',
      'a conversion gives the ledgers of access tokens the ids that this release derives',
    ],
    [
      "const KEY_ATTRIBUTES = ['pk', ",
      "const KEY_ATTRIBUTES = ['pk', 'description', ",
      'a conversion gives the ledgers of access tokens the ids that this release derives',
    ],
    [
      '(?=#|$)',
      '',
      'a conversion gives the ledgers of access tokens the ids that this release derives',
    ],
    [
      ', createDelete(item)',
      '',
      'a conversion gives the ledgers of access tokens the ids that this release derives',
    ],
    [
      "['ledger']",
      '[]',
      'a conversion gives the ledgers of access tokens the ids that this release derives',
    ],
    [
      'CONVERSIONS.slice(appliedCount)',
      'CONVERSIONS.slice(appliedCount + 1)',
      'a conversion gives the ledgers of access tokens the ids that this release derives',
    ],
  ]),
  ...mutantsOf(
    'lib/ledger/store/api-keys.ts',
    'tests/ledger/contract/data-of-earlier-releases.test.ts',
    [
      [
        '    setAttributes(createApiKeyNameKey(hash), removals, {\n      ...unchangedCondition,\n      onConditionFailed,\n    }),\n',
        '',
        'keys from an earlier release keep their scope and revocation',
      ],
      [
        '    await moveEarlierKeys();\n    const [entry]',
        '    const [entry]',
        'unconverted keys from an earlier release can be listed and revoked',
      ],
      [
        '{ ...earlierItem, ...createApiKeyKey(hash) }',
        'createApiKeyKey(hash)',
        'a conversion gives the ledgers of access tokens the ids that this release derives',
      ],
      [
        '{\n      ...unchangedCondition,\n      onConditionFailed,\n    }',
        '{ ...EXISTS, onConditionFailed }',
        'a key that 0.1.0 revokes while another command moves it stays revoked',
      ],
      [
        ', ConditionExpression: IS_NEW };\n  const removals',
        ' };\n  const removals',
        'a moved key is never overwritten with its older copy',
      ],
      [
        ' || attempt === MAX_ATTEMPTS',
        ' || attempt === 1',
        'a key that this release revokes while another command moves it stays revoked',
      ],
      [
        'await adoptRevocation(entry);',
        'movedCount += 0;',
        'a key that 0.1.0 revokes after its move is revoked by the next list',
      ],
    ],
  ),
  // Digests of months, continued.
  ...mutantsOf(
    'lib/ledger/domain/month-digest.ts',
    'tests/ledger/unit/domain/month-digest.test.ts',
    [['`${id} ${version} ${createdAt} ${updatedAt}`', '`${id} ${version}`']],
  ),
  ...mutantsOf('lib/ledger/service/months.ts', 'tests/ledger/contract/months.test.ts', [
    ['startDate === toDate(month, 1) && ', ''],
    [' && endDate === toDate(month, daysInMonth(month))', ''],
    ['Object.values(otherFilters).some((each) => each !== undefined)', 'false'],
  ]),
  ...mutantsOf('lib/ledger/store/day-counts.ts', 'tests/ledger/contract/months.test.ts', [
    ['[toMonth(year, slot), digest]', '[toMonth(year, 1), digest]'],
  ]),

  ...mutantsOf('lib/ledger/service/months.ts', 'tests/ledger/contract/months.test.ts', [
    ['months.length > MAX_PERIODS', 'months.length >= MAX_PERIODS'],
  ]),

  // Months that a function caches.
  ...mutantsOf('lib/ledger/store/month-cache.ts', 'tests/ledger/unit/store/month-cache.test.ts', [
    ['if (entry.digest !== digest) return undefined;', ''],
    ['if (size <= maxSize) return;', 'return;'],
    ['entries.delete(name);\n    entries.set(name, entry);', ''],
    ['size -= entries.get(name)?.size ?? 0;', ''],
  ]),
  ...mutantsOf('lib/ledger/store/month-cache.ts', 'tests/ledger/contract/cached-months.test.ts', [
    ['if (!isWholeMonthIn(month, range)) return [];', ''],
    [' || !isCompleteDigest(digest, count)', ''],
    ['if (isWholeMonthIn(month, range)) monthCache', 'monthCache'],
    ['isUnfiltered(filter) ? years : []', 'years'],
  ]),
  ...mutantsOf(
    'lib/ledger/store/transaction-pages.ts',
    'tests/ledger/contract/cached-months.test.ts',
    [['if (isWhole) cachedMonths', 'cachedMonths']],
  ),
  ...mutantsOf('lib/ledger/store/keys.ts', 'tests/ledger/contract/cached-months.test.ts', [
    ["joinKey('MONTH', month)", 'month'],
  ]),
  ...mutantsOf(
    'lib/ledger/domain/day-histogram.ts',
    'tests/ledger/unit/domain/day-histogram.test.ts',
    [
      ['if (lastDay < newestDate) ranges', 'ranges'],
      ['newestDate < start ? ranges', 'newestDate < newestDate ? ranges'],
    ],
  ),

  // Pages and exports that continue after a row.
  ...mutantsOf('lib/ledger/http/transaction-query.ts', 'tests/ledger/contract/cursors.test.ts', [
    ['if (after.order !== order) {', 'if (false) {'],
  ]),
  ...mutantsOf('lib/ledger/store/export-parts.ts', 'tests/ledger/contract/cached-exports.test.ts', [
    ['firstCutIndex + 1', 'firstCutIndex'],
    ['(queryCount - 1) * limits.minRowsPerQuery > rowCount', 'false'],
    ['.toSorted(comparePositions)', ''],
    ['if (isUnfiltered(filter)) cachedMonths.keep', 'cachedMonths.keep'],
    ['isStartCut ? toDate(monthOf(after.date), 2) : start', 'start'],
    ['last ? toDate(monthOf(last.date), 0) : end', 'end'],
  ]),
  ...mutantsOf('lib/ledger/store/export-parts.ts', 'tests/ledger/property/export-parts.test.ts', [
    ['!after || comparePositions(row, after) > 0', 'true'],
    [
      'selectedSegments.length < segments.length ? selectedSegments.at(-1) : undefined',
      'undefined',
    ],
    ['count + segment.count > maxRows', 'false'],
    ['items.length > limits.maxRows', 'false'],
    ['if (hasRows && count', 'if (count > 0 && count'],
    ['count: followingRows.length', 'count: rows.length'],
    [' && !mayBeInPreviousPart', ''],
  ]),
  ...mutantsOf('lib/ledger/store/transaction-pages.ts', 'tests/ledger/contract/cursors.test.ts', [
    [
      'readSlice(rangeAfter(list, after, isOldestFirst), 0, limit + 1)',
      'readSlice(rangeAfter(list, after, isOldestFirst), 0, limit)',
    ],
    ['const hasMore = followingRows.length > limit;', 'const hasMore = total > limit;'],
  ]),
  ...mutantsOf('lib/ledger/store/list-ranges.ts', 'tests/ledger/contract/cursors.test.ts', [
    ['keyBefore < last ? keyBefore : last', 'keyBefore'],
    ['keyAfter > first ? keyAfter : first', 'keyAfter'],
  ]),
  ...mutantsOf('lib/ledger/store/keys.ts', 'tests/ledger/contract/cursors.test.ts', [
    ['id: position.id - 1', 'id: position.id'],
  ]),
  ...mutantsOf('lib/ledger/domain/pagination.ts', 'tests/ledger/unit/domain/pagination.test.ts', [
    ['compare(row, after) > 0', 'compare(row, after) >= 0'],
    ['followingIndex < 0 ? rows.length', 'followingIndex < 0 ? 0'],
    ['hasMore: end < rows.length', 'hasMore: end <= rows.length'],
  ]),
  // The web page.
  ...mutantsOf('web/page/outbox.ts', 'tests/ledger/unit/web/outbox.test.ts', [
    [
      'some(({ before, after }) => !before && after)',
      'some(({ before, after }) => before && after)',
    ],
    ['hasEarlierWrite(each, queue.waiting.value)', 'false'],
    ['waiting.slice(0, waiting.indexOf(write))', 'waiting'],
    ['    changes.map(versions.withLatestVersions),', '    changes,'],
    ['writes.value.filter((each) => !removals.has(each))', 'writes.value'],
    ['remainingConflicts.get(id)?.theirs === undefined', 'false'],
    ['remainingConflicts.get(id)?.theirs === undefined', 'true'],
    ['after?.id === id', 'true'],
  ]),
  ...mutantsOf('web/page/write-queue.ts', 'tests/ledger/unit/web/outbox.test.ts', [
    ['nextTemporaryId = Math.min(nextTemporaryId, ...addedWrites.flatMap(listTemporaryIds));', ''],
    ['filter(({ key }) => !knownKeys.has(key))', 'filter(() => true)'],
    ['isStored = save(', 'save('],
    ['slice(n * MAX_BULK_ITEMS, (n + 1) * MAX_BULK_ITEMS)', 'slice(n * MAX_BULK_ITEMS)'],
  ]),
  ...mutantsOf('web/page/journal.ts', 'tests/ledger/unit/web/outbox.test.ts', [
    ['lock && device.getItem(name)', 'device.getItem(name)'],
    ['        device.removeItem(name);\n        take(text);', '        take(text);'],
    ['name.startsWith(prefix) && name !== ownName', 'name !== ownName'],
    ['  moveFromTab(ports);', ''],
  ]),
  ...mutantsOf('web/page/ledger.ts', 'tests/ledger/unit/web/page/key-of-tab.test.ts', [
    ['    if (!storedKey.isReplaced()) return;\n    outbox', '    outbox'],
    ['  openedLedger = ledger;\n', ''],
  ]),
  ...mutantsOf('web/page/work-under-way.ts', 'tests/ledger/unit/web/page/key-of-tab.test.ts', [
    ['() => runningCount.value === 0', '() => true'],
    ['  } finally {\n    runningCount.value -= 1;\n  }', '  } finally {\n  }'],
  ]),
  ...mutantsOf('web/page/kept-import.ts', 'tests/ledger/unit/web/page/kept-import.test.ts', [
    ['    else dropDraft(nameDraft());', ''],
  ]),
  ...mutantsOf('web/page/key-question.ts', 'tests/ledger/unit/web/page/key-of-tab.test.ts', [
    ['      await untilTrue(() => !keyQuestion.value);', '      throw error;'],
  ]),
  ...mutantsOf('web/page/send-queue.ts', 'tests/ledger/unit/web/outbox.test.ts', [
    ['error instanceof ApiError ? error : explainDefect(error)', 'error as ApiError'],
    ['if (failure !== error) sender.ports.onDefect(error);', ''],
    ['before !== undefined && before.id === createdId', 'false'],
    ['{ after: lastChange.after }', '{ after: first?.after }'],
    ['each.ledger === ledger.value && !underWay.has(each.key)', '!underWay.has(each.key)'],
    ['    versions.add(writtenRow, after);', ''],
    ['changes: each.changes.map(confirmedVersions.withLatestVersions)', 'changes: each.changes'],
    [
      'changes: each.changes.map(confirmedVersions.withLatestVersions)',
      'changes: each.changes.map(versions.withLatestVersions)',
    ],
    ['Date.now() - write.queuedAt > KEY_LIFETIME_MS', 'false'],
    ['attempts: write.attempts + 1, sendAt', 'sendAt'],
    ['sender.queue.update(write.key, { attempts: write.attempts });', ''],
    ['return sender.pausedUntil > now', 'return false'],
  ]),
  ...mutantsOf('web/page/category-list.ts', 'tests/ledger/unit/web/category-list.test.ts', [
    [
      '!(listedCategory && readVersion(listedCategory) >= readVersion(category))',
      '!listedCategory',
    ],
    ['writtenAt >= Date.now() - LAG_MS &&', ''],
    ['if (!latest || readVersion(latest) <= readVersion(category))', ''],
  ]),
  ...mutantsOf('web/page/category-settings.ts', 'tests/ledger/unit/web/category-settings.test.ts', [
    ['(each) => typed[each] !== saved[each]', '() => true'],
    ['lastSave = lastSave.then(saveTyped)', 'lastSave = saveTyped()'],
    ['      saved.value = pending.typed;', ''],
  ]),
  ...mutantsOf(
    'web/page/opened-category.ts',
    'tests/ledger/unit/web/page/opened-category.test.ts',
    [
      ['nameDraft(me.peek()?.ledger)', 'nameDraft(openSettings.peek()?.ledger)'],
      ['    else dropDraft(draftName);', ''],
      [
        '  stopKeeping();\n  dropDraft(nameDraft(openSettings.peek()?.ledger));',
        '  stopKeeping();',
      ],
      ['showSettings(category, keptSettings.settings)', 'openCategory(category)'],
    ],
  ),
  ...mutantsOf('web/page/colors.ts', 'tests/ledger/unit/web/page.test.ts', [
    ['isLightBackground ? LIGHT : DARK', 'LIGHT'],
  ]),
  ...mutantsOf('web/page/scope.ts', 'tests/ledger/unit/web/page.test.ts', [
    ['dates?.start_date === start && ', ''],
    ['({ page: _, ...list }: Scope)', '(list: Scope)'],
    ['JSON.stringify(list)', '(list.q)'],
  ]),
  ...mutantsOf('web/page/responses.ts', 'tests/ledger/unit/web/responses.test.ts', [
    ['.find((oldest) => oldest !== CALLER_PATH)', '[1]'],
  ]),
  ...mutantsOf('web/page/row-versions.ts', 'tests/ledger/unit/web/outbox.test.ts', [
    ['if (nameVersion(before) !== nameVersion(after))', 'if (before.id !== after.id)'],
    ['keys.get(id) ?? id', 'id'],
  ]),
  ...mutantsOf('web/page/send-write.ts', 'tests/ledger/unit/web/outbox.test.ts', [
    ["headers: { 'idempotency-key': write.key },", 'headers: {},'],
    ['(isRemoval && status === 404)', 'status === 404'],
  ]),
  ...mutantsOf('web/page/api-error.ts', 'tests/ledger/unit/web/outbox.test.ts', [
    ['FIRST_PAUSE_MS * 2 ** failures', 'FIRST_PAUSE_MS'],
    ['Math.min(MAX_PAUSE_MS, ', 'Math.max(0, '],
  ]),
  ...mutantsOf('web/page/rows.ts', 'tests/ledger/unit/web/page.test.ts', [
    ['if (after && listedRow && readVersion(listedRow) > readVersion(after)) continue;', ''],
    ['if (changedRow && isIn(changedRow)) rowsById', 'if (changedRow) rowsById'],
    ['...readFields(listedRow),', ''],
    ['!addedIds.has(row.id) || isOnPage(row)', 'true'],
    ["replace(/[^\\p{L}\\p{M}]+/gu, ' ')", "replace(/[^\\p{L}\\p{M}\\p{N}]+/gu, ' ')"],
    ['words.every((word)', 'words.some((word)'],
  ]),
  ...mutantsOf('web/page/figures.ts', 'tests/ledger/unit/web/page.test.ts', [
    ['toCents(row.amount) * sign', 'toCents(row.amount)'],
    ['Math.round(amount * 100)', 'amount * 100'],
  ]),
  ...mutantsOf('web/page/scope.ts', 'tests/ledger/unit/web/page.test.ts', [
    [
      'const newScope = { ...scope, page: 1, ...changes };',
      'const newScope = { ...scope, ...changes };',
    ],
    ['Math.min(today.getDate(), lastOfMonth)', 'lastOfMonth'],
  ]),
];
