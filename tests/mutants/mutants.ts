// One-line changes that each break a rule, and the test file that must fail for them: `npm run test:mutants`.

export interface Mutant {
  readonly file: string;
  /** Text that is in the file exactly once. */
  readonly search: string;
  readonly replacement: string;
  /** Fails on the mutant and passes without it. */
  readonly test: string;
}

/** Mutants of one file that the same test kills. */
function mutantsOf(
  file: string,
  test: string,
  changes: readonly (readonly [search: string, replacement: string])[],
): Mutant[] {
  return changes.map(([search, replacement]) => ({ file, search, replacement, test }));
}

export const MUTANTS: readonly Mutant[] = [
  // Two requests that change the same record.
  ...mutantsOf('lib/store/categories.ts', 'tests/contract/races.test.ts', [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['`${IS_UNUSED} AND ${IS_UNCHANGED}`', '`${IS_UNUSED} AND version >= :expected`'],
    ['expression: IS_UNCHANGED,', "expression: 'version >= :expected',"],
    ['attribute_exists(pk) AND is_active = :yes', 'attribute_exists(pk) AND is_active <> :no'],
    ['TRANSACTION_COUNT} = :none', 'TRANSACTION_COUNT} >= :none'],
    ["IS_NEW = 'attribute_not_exists(pk)'", "IS_NEW = 'attribute_not_exists(nothing)'"],
  ]),
  ...mutantsOf('lib/store/transactions.ts', 'tests/contract/races.test.ts', [
    ["IS_UNCHANGED = 'version = :version'", "IS_UNCHANGED = 'version >= :version'"],
  ]),
  ...mutantsOf('lib/ledger/retry-on-conflict.ts', 'tests/unit/ledger/retry-on-conflict.test.ts', [
    ['if (current === undefined) await', 'await'],
    ['current = error.current as Existing | undefined', 'current = undefined'],
  ]),

  // Retries and lost responses.
  ...mutantsOf('lib/store/database.ts', 'tests/unit/store/database.test.ts', [
    ['ClientRequestToken: randomUUID(),', ''],
    ['isUnknown ||= isOutcomeUnknown(error);', ''],
    [', timeout])', '])'],
    ['while (from && items.length < limit)', 'while (from && items.length > limit)'],
    [
      'query(\n    range: Range,\n    limit = Number.POSITIVE_INFINITY',
      'query(\n    range: Range,\n    limit = 1',
    ],
  ]),
  ...mutantsOf('lib/store/retryable-errors.ts', 'tests/unit/store/retryable-errors.test.ts', [
    ['codes.every(', 'codes.some('],
    ['E(?!RR_)', 'E'],
    ['status >= 500', 'status > 500'],
  ]),
  ...mutantsOf('lib/retry.ts', 'tests/unit/retry.test.ts', [
    ['policy.now() + delay > deadline', 'policy.now() > deadline'],
    ['Math.min(longestDelayMs, firstDelayMs', 'Math.max(longestDelayMs, firstDelayMs'],
  ]),

  ...mutantsOf('lib/store/database.ts', 'tests/unit/store/database.test.ts', [
    ['await read.then(', 'await send({ abortSignal: limits.signal }).then('],
  ]),
  ...mutantsOf('lib/store/retryable-errors.ts', 'tests/unit/http/error-reply.test.ts', [
    [
      'error instanceof StaleRecordError || error instanceof DeadlineExceededError) return',
      'false) return',
    ],
  ]),

  // What an Idempotency-Key remembers.
  ...mutantsOf('lib/http/idempotency.ts', 'tests/unit/http/idempotency.test.ts', [
    ['if (!outcomes.some(isUnexpected))', 'if (outcomes)'],
    ['return result ? { result } : outcome;', 'return outcome;'],
    ['return toFailedItem(error, failure);', 'return outcome;'],
    ['await withRemembered(outcomesIn(body))', 'outcomesIn(body)'],
    ['if (isConflict(error)) throw failure;', ''],
    ['throw isBusy(error)', 'throw error instanceof RequestRepeatedError'],
    [
      'error instanceof ConflictError || error instanceof DuplicateError',
      'error instanceof ConflictError',
    ],
  ]),
  ...mutantsOf('lib/http/idempotency.ts', 'tests/contract/bulk.test.ts', [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['await idempotency.bind(hash(`${key} body`), fingerprint);', ''],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['hash(`${key} ${index}`)', 'hash(`${key}`)'],
  ]),
  ...mutantsOf('lib/http/idempotency.ts', 'tests/contract/api/idempotency.test.ts', [
    ['if (fingerprint !== sent) throw keyReused();', ''],
    ["path.replace(/\\/$/, '')", 'path'],
    ['.sort(([one], [other]) => (one < other ? -1 : 1))', ''],
  ]),
  ...mutantsOf('lib/http/bulk-reply.ts', 'tests/unit/http/idempotency.test.ts', [
    ['result.status >= 500', 'result.status > 500'],
    ['unexpected.length > 0 && !outcomes.some(isApplied)', 'unexpected.length > 0'],
  ]),
  ...mutantsOf('lib/store/idempotency.ts', 'tests/contract/bulk.test.ts', [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['`${IS_FREE} OR fingerprint = :fingerprint`', '`${IS_FREE} OR fingerprint <> :fingerprint`'],
  ]),

  // Many transactions in one request.
  ...mutantsOf('lib/ledger/bulk.ts', 'tests/contract/bulk.test.ts', [
    ['!again || !(error instanceof StaleRecordError)', '!again || error'],
    ['await apply(rows.slice(middle));', ''],
  ]),
  ...mutantsOf('lib/ledger/many-transactions.ts', 'tests/contract/bulk.test.ts', [
    ['await refuseUnexpected(before, isExpected);\n      const assigned', 'const assigned'],
    [
      'single.update(await single.find(String(id)), changes, isExpected, alsoWrite)',
      'single.update(before, changes)',
    ],
    ['await single.remove(String(id), isExpected, () => alsoWrite?.(id) ?? []);', ''],
  ]),
  ...mutantsOf('lib/store/transactions.ts', 'tests/contract/bulk.test.ts', [
    ['!stored && (isOnlyOne || undefined)', '!stored'],
  ]),
  ...mutantsOf('lib/http/transaction-json.ts', 'tests/contract/bulk.test.ts', [
    ['if (twice === undefined) return items;', 'if (items) return items;'],
  ]),
  ...mutantsOf('lib/domain/summary.ts', 'tests/contract/summary.test.ts', [
    ['numberOf(first) + 1', 'numberOf(first)'],
    ['if (periods.length <= most) return;', ''],
  ]),

  // The limit of categories, and updates that name what they change.
  ...mutantsOf('lib/ledger/categories.ts', 'tests/contract/category-limit.test.ts', [
    ['drawn <= limit ? drawn : await freeId()', 'drawn'],
  ]),
  ...mutantsOf('lib/domain/category.ts', 'tests/contract/category-limit.test.ts', [
    ['if (taken.length >= limit) return undefined;', ''],
  ]),
  ...mutantsOf('lib/store/transactions.ts', 'tests/contract/changed-attributes.test.ts', [
    ['Object.keys({ ...before, ...after })', 'Object.keys(after)'],
  ]),

  // Counts and pages.
  ...mutantsOf('lib/store/transaction-pages.ts', 'tests/contract/drifted-ledger.test.ts', [
    ['Math.max(total, newestRows.length)', 'total'],
  ]),
  ...mutantsOf('lib/store/day-counts.ts', 'tests/unit/store/day-counts.test.ts', [
    ['note(changes, keys, each, -1n)', 'note(changes, keys, each, 0n)'],
    ['by !== 0n', 'by > 0n'],
  ]),
  ...mutantsOf('lib/store/transaction-pages.ts', 'tests/contract/crowded-day.full.test.ts', [
    ['rest - taken, taken', '0, taken'],
    ['0, limit - taken', '0, limit'],
    ['...ofDay.reverse()', '...ofDay'],
  ]),
  ...mutantsOf('lib/store/transaction-pages.ts', 'tests/property/invariants.test.ts', [
    ['.slice(skip)', '.slice(0)'],
    ['slice(last, 0, rest)', 'slice(last, 0, count)'],
  ]),
  ...mutantsOf('lib/store/keys.ts', 'tests/unit/store/keys.test.ts', [
    ["padStart(16, '0')", "padStart(1, '0')"],
    ['categoryId !== undefined) return', 'categoryId) return'],
  ]),
  ...mutantsOf('lib/domain/day-histogram.ts', 'tests/property/day-histogram.test.ts', [
    ['skip < number', 'skip <= number'],
    ['date >= start', 'date > start'],
  ]),
  ...mutantsOf('lib/domain/pagination.ts', 'tests/unit/domain/pagination.test.ts', [
    ['page < pages', 'page <= pages'],
  ]),
  ...mutantsOf('lib/ledger/verification.ts', 'tests/contract/verification/other-writers.test.ts', [
    ['position.readings === 0 || seen.has(identity(drift))', 'true'],
    ['position = isResumed', 'position = false'],
    ['READINGS = 3', 'READINGS = 2'],
  ]),
  ...mutantsOf('lib/store/verification/drifts.ts', 'tests/contract/verification/drifts.test.ts', [
    ['lastIds[kind] < highestIds[kind]', 'lastIds[kind] <= highestIds[kind]'],
  ]),

  // Exports, and their import.
  ...mutantsOf('lib/http/transaction-csv.ts', 'tests/unit/http/transaction-export.test.ts', [
    ["(?:$|'|", '(?:$|'],
    ["(?='|", '(?='],
    ['(?<=[;', '(?<=['],
  ]),
  ...mutantsOf('lib/http/transaction-export.ts', 'tests/unit/http/transaction-export.test.ts', [
    ['size > LARGEST_PART_BYTES', 'size > 2 * LARGEST_PART_BYTES'],
    ['last: items[n - 1]', 'last: items[n]'],
  ]),
  ...mutantsOf('lib/store/keys.ts', 'tests/property/export.test.ts', [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['`${dateKey(position)}~`', '`${dateKey(position)}`'],
  ]),
  ...mutantsOf('cli/import/plan.ts', 'tests/property/export.test.ts', [
    ['equal.get(fieldsOf(row))?.shift()', 'equal.get(fieldsOf(row))?.[0]'],
  ]),

  // Rules on values.
  ...mutantsOf('lib/domain/money.ts', 'tests/unit/http/record-json.test.ts', [
    ['Math.abs(value) <= LARGEST_AMOUNT', 'Math.abs(value) < LARGEST_AMOUNT'],
    ['\\d{1,2}', '\\d{1,3}'],
  ]),
  ...mutantsOf('lib/domain/calendar-date.ts', 'tests/unit/domain/calendar-date.test.ts', [
    ['year % 400 === 0', 'year % 400 === 1'],
    [' || text < EARLIEST_DATE', ''],
  ]),
  ...mutantsOf('lib/domain/text.ts', 'tests/unit/http/record-json.test.ts', [
    ['[...value].length <= maximum', 'value.length <= maximum'],
  ]),
  ...mutantsOf('lib/domain/text.ts', 'tests/unit/domain/text.test.ts', [['u200b-', 'u200c-']]),
  ...mutantsOf('lib/domain/record.ts', 'tests/unit/domain/record.test.ts', [
    ['before.updatedAt + 1', 'before.updatedAt'],
  ]),
  ...mutantsOf('lib/http/fields.ts', 'tests/unit/http/fields.test.ts', [
    ['Array.isArray(query[name])', 'false'],
    ['!Object.hasOwn(entries, name)', '!(name in entries)'],
  ]),
  ...mutantsOf('lib/ledger/transactions.ts', 'tests/contract/api/transactions.test.ts', [
    ['if (!category.isActive) throw inactiveCategory();', ''],
  ]),
  ...mutantsOf('lib/ledger/categories.ts', 'tests/contract/api/categories.test.ts', [
    ['isActive || !activeOnly', 'isActive'],
  ]),

  // A migration: when writes are frozen, who returns from live, whose lock it is, what differs and what may be lost.
  ...mutantsOf(
    'lib/migration/steps/write-freeze.ts',
    'tests/contract/migration/steps/cutover.test.ts',
    [
      ["[503, 'ECONNREFUSED']", "[503, 429, 'ECONNREFUSED']"],
      ['drainedSeconds >= context.run.plan.drainSeconds', 'drainedSeconds >= 0'],
    ],
  ),
  ...mutantsOf('lib/migration/moves.ts', 'tests/unit/migration/phases.test.ts', [
    ["by: OPERATOR,\n    needs: ['backup-manifest']", "needs: ['backup-manifest']"],
  ]),
  ...mutantsOf('lib/migration/runs/step.ts', 'tests/unit/migration/runs/step.test.ts', [
    ['isDeepStrictEqual(saved?.inputs, inputs)', 'true'],
    ['get run() {\n      return run;\n    },', 'run,'],
  ]),
  ...mutantsOf(
    'lib/migration/runs/step.ts',
    'tests/contract/migration/steps/automatic-rollback.test.ts',
    [
      ['if (!rollsBackBy || mayPass || interruption?.aborted) throw', 'throw'],
      ['guarding(rollsBackBy.guard?.(approach), refusal)', 'rollsBackBy.guard?.(approach)'],
      [' && !run.refused?.why.startsWith(error.why)', ''],
    ],
  ),
  ...mutantsOf(
    'lib/migration/snapshots.ts',
    'tests/contract/migration/steps/automatic-rollback.test.ts',
    [['isUnusable && !context.signal.aborted', 'isUnusable']],
  ),
  ...mutantsOf(
    'lib/migration/steps/cutover.ts',
    'tests/contract/migration/steps/rollback.test.ts',
    [['wasOpened(run) || !(await canRollBack(services, run))', 'true']],
  ),
  ...mutantsOf('lib/migration/runs/times.ts', 'tests/unit/migration/runs/times.test.ts', [
    [' || overAt !== undefined', ''],
  ]),
  ...mutantsOf('lib/migration/runs/step.ts', 'tests/contract/migration/steps/rollback.test.ts', [
    [' || isOpened(run, services.clock())', ''],
    ["const isRepeated = run.phase === 'switching' &&", 'const isRepeated = false &&'],
    [' && !isEarly', ''],
  ]),
  ...mutantsOf(
    'lib/migration/steps/rollback.ts',
    'tests/contract/migration/steps/rollback.test.ts',
    [
      ["if (input.actor === 'machine') assertNotOpened(services, run);", ''],
      ["=== 'carry') await context.note", "!== 'to-snapshot') await context.note"],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/rollback.ts',
    'tests/contract/migration/steps/in-place.test.ts',
    [["'setting-changed' in passed", "run.plan.inPlace && 'frozen' in passed"]],
  ),
  ...mutantsOf('lib/migration/settler.ts', 'tests/contract/migration/steps/rollback.test.ts', [
    ["!writesBack && wayOf(pair) === 'back'", "mode === 'compare' && wayOf(pair) === 'back'"],
  ]),
  ...mutantsOf(
    'lib/migration/reconcile-report.ts',
    'tests/contract/migration/steps/rollback.test.ts',
    [['batch.staysApart(pair) ? digest : kept', 'kept']],
  ),
  ...mutantsOf(
    'lib/migration/steps/retention.ts',
    'tests/contract/migration/steps/retention.full.test.ts',
    [['? backupsOf(run) : []', '? [...backupsOf(run), basesOf(run)] : []']],
  ),
  ...mutantsOf('lib/migration/steps/retention.ts', 'tests/unit/migration/steps/retention.test.ts', [
    ['last < (window?.overAt ?? 0) || ', ''],
  ]),
  ...mutantsOf('lib/migration/runs/step.ts', 'tests/contract/migration/steps/cutover.test.ts', [
    ['failure instanceof RetryableFailure || isRefusal(', 'isRefusal('],
  ]),
  ...mutantsOf('lib/migration/runs/run.ts', 'tests/unit/migration/runs/run.test.ts', [
    ["run.phase === 'switching' && phase === 'switching-back'", "phase === 'switching-back'"],
    ["begins || run.phase === 'switching-back'", "run.phase === 'switching-back'"],
  ]),
  ...mutantsOf('cli/migrate/drive.ts', 'tests/contract/migration/command-line/run.test.ts', [
    ["isLate ? { ...status, next: 'cutover' } : status", 'status'],
    [' && after.openedAt) {', ' && false) {'],
    ['message !== lastSeen.failure', 'true'],
  ]),
  ...mutantsOf('lib/migration/steps/status.ts', 'tests/contract/migration/steps/rollback.test.ts', [
    [" || run.refused?.name === 'RefusedNothingToReturnTo'", ''],
  ]),
  ...mutantsOf('lib/migration/runs/run.ts', 'tests/contract/migration/steps/watch.full.test.ts', [
    ["phase === 'aborted' ? 'left' : undefined", 'undefined'],
  ]),
  ...mutantsOf('lib/migration/runs/run.ts', 'tests/contract/migration/steps/windows.full.test.ts', [
    ['const { window: _, ...left } = run;', 'const left = run;'],
  ]),
  ...mutantsOf('lib/migration/runs/stages.ts', 'tests/contract/migration/steps/rollback.test.ts', [
    ['await keep({ reached } as Partial<State>, progress)', 'undefined'],
  ]),
  ...mutantsOf('lib/migration/runs/run-lock.ts', 'tests/contract/migration/run-lock.test.ts', [
    ['epoch = :seen AND lease_until <= :now', 'epoch = :seen OR lease_until <= :now'],
    ["IS_MY_EPOCH = 'epoch = :epoch'", "IS_MY_EPOCH = 'epoch >= :epoch'"],
  ]),
  ...mutantsOf(
    'lib/migration/steps/external-action.ts',
    'tests/unit/migration/steps/external-action.test.ts',
    [
      ['pending?.action === action && ', ''],
      [' && pending.collection === collection', ''],
    ],
  ),
  ...mutantsOf('lib/migration/scan.ts', 'tests/unit/migration/scan.test.ts', [
    ['if (user !== NOBODY) counts', 'counts'],
  ]),
  ...mutantsOf('lib/migration/configuration.ts', 'tests/unit/migration/configuration.test.ts', [
    [
      'await healthyInfo({ store: vectors, collection })',
      'await vectors.collectionInfo(collection)',
    ],
  ]),
  ...mutantsOf('lib/migration/forecast.ts', 'tests/unit/migration/forecast.test.ts', [
    ['seconds <= minutes * 60', 'true'],
  ]),
  ...mutantsOf('lib/migration/parity.ts', 'tests/contract/migration/search-parity.test.ts', [
    ['overlap < LEAST_SHARE', 'overlap < 0'],
    ['byKeywords < LEAST_SHARE', 'byKeywords < 0'],
  ]),
  ...mutantsOf('lib/migration/snapshots.ts', 'tests/contract/migration/steps/backup.test.ts', [
    ['await vectors.deleteSnapshot(collection, snapshot.name);', ''],
    ['asked.length - (isGone ? 1 : 0)', 'asked.length'],
  ]),
  ...mutantsOf('lib/migration/throttle.ts', 'tests/unit/migration/throttle.test.ts', [
    ['let tokens = 0;', 'let tokens = 1_000;'],
  ]),
  ...mutantsOf('lib/migration/reconcile-report.ts', 'tests/unit/migration/reconcile.test.ts', [
    ['if (examples.length < MAX_EXAMPLES) ', ''],
  ]),
  ...mutantsOf('lib/migration/settler.ts', 'tests/unit/migration/reconcile.test.ts', [
    ["return theirs && 'extra'", 'return undefined'],
  ]),
  ...mutantsOf('lib/migration/settler.ts', 'tests/unit/migration/settler.test.ts', [
    ['if (!ours && noted.has(pair.id))', 'if (noted.size < 0)'],
    ["if (!isAs(ours, was)) return 'conflict';", ''],
    ['counted.second > limit', 'counted.second > 2 * limit'],
    ['first + fromFirst > backLimit', 'false'],
    ['pair.from && wayOf(pair)', '!pair.to && wayOf(pair)'],
    ['await keepOverruled(fresh);', ''],
  ]),
  ...mutantsOf(
    'lib/migration/keyword-fill.ts',
    'tests/contract/vector-store/keyword-fill.test.ts',
    [
      ['version > since)', 'version > since + 1_000)'],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
      ["'sha256', `${id}|${version}`", "'sha256', id"],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/in-place.ts',
    'tests/contract/migration/steps/in-place.test.ts',
    [['walk.refilled === 0', 'true']],
  ),
  ...mutantsOf(
    'lib/migration/steps/in-place.ts',
    'tests/contract/migration/steps/automatic-rollback.test.ts',
    [
      [' && (await sampleDigest(place)) === sample', ''],
      ['contents.usersDigest === usersDigest && ', ''],
      ["run.phase === 'switching' && pending > 0", 'pending < 0'],
    ],
  ),
  ...mutantsOf('lib/migration/point-writer.ts', 'tests/unit/migration/reconcile.test.ts', [
    ['hash === undefined || hash === null ? ', 'hash !== undefined || hash !== null ? '],
  ]),
  ...mutantsOf('lib/migration/point-writer.ts', 'tests/unit/migration/settler.test.ts', [
    ['{ filter: unchanged(same) }', '{ ids: same.map(({ id }) => id) }'],
    ["'update_only', condition", "'update_only'"],
    ["'insert_only'", "'upsert'"],
    ['.filter(({ id }) => !found.has(id))', ''],
    ['present !== undefined && samePayload(present.payload, payload)', 'present !== undefined'],
  ]),
  ...mutantsOf(
    'lib/migration/steps/switch-back.ts',
    'tests/contract/migration/steps/rollback.test.ts',
    [
      ['leftBehind <= limit)', 'leftBehind <= limit + 1)'],
      ['await assertStillThere(context, to, 0);', ''],
      [
        'await assertStillThere(context, to, expected);\n  await context.renew();',
        'await context.renew();',
      ],
    ],
  ),
  ...mutantsOf(
    'lib/migration/steps/switch-back.ts',
    'tests/contract/migration/steps/lock-before-change.test.ts',
    [['  await renew();\n  await setting.change(', '  await setting.change(']],
  ),

  // Who sends a request.
  ...mutantsOf('lib/auth/access-tokens.ts', 'tests/unit/auth/access-tokens.test.ts', [
    ['found.issuer !== issuer', 'found.issuer === undefined'],
    ['algorithms: ALGORITHMS,', ''],
    ["requiredClaims: ['exp', 'sub'],", ''],
    ['aud === undefined ? client_id === audience : ', ''],
    ['if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;', 'throw error;'],
    ['if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;', 'throw error;'],
    ['if (!payload.sub) throw', 'if (payload.sub === undefined) throw'],
    ['[scope, scp]', '[scope]'],
    ["granted.includes('write') ? 'write' : granted[0]", 'granted[0]'],
  ]),
  ...mutantsOf('lib/auth/authenticate.ts', 'tests/unit/auth/authenticate.test.ts', [
    ['now - cached.readAt < CACHE_MS', 'now - cached.readAt <= CACHE_MS'],
    ['if (key.revokedAt !== undefined) throw', 'if (key.revokedAt === 0) throw'],
    ['authorization === undefined && anonymous', 'anonymous'],
    ["(method === 'GET' || method === 'HEAD')", "method !== 'DELETE'"],
    ['cache.size > CACHED_KEYS &&', ''],
  ]),
  ...mutantsOf('lib/auth/api-keys.ts', 'tests/contract/authentication.test.ts', [
    ['found.revoked_at ?? clock().getTime()', 'clock().getTime()'],
    ['if (!ID.test(id)) throw unknownKey(id);', ''],
  ]),
  ...mutantsOf('lib/auth/caller.ts', 'tests/unit/auth/access-tokens.test.ts', [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['`${issuer}\\n${subject}`', 'subject'],
  ]),

  // Requests and responses.
  ...mutantsOf('lib/http/error-reply.ts', 'tests/unit/http/error-reply.test.ts', [
    [
      "    return failed(409, { error: 'conflict', message: error",
      "    return failed(400, { error: 'conflict', message: error",
    ],
  ]),
  ...mutantsOf('lib/http/json-body.ts', 'tests/unit/http/json-body.test.ts', [
    ['bytes.length > MAX_BODY_BYTES', 'bytes.length >= MAX_BODY_BYTES'],
    ['fatal: true', 'fatal: false'],
    ['if (Array.isArray(value)) throw notAnObject();', ''],
    ['refuseEncoded(request.event);', ''],
  ]),
  ...mutantsOf('lib/http/json-text.ts', 'tests/unit/http/json-body.test.ts', [
    ['names.length > MAX_DEPTH', 'names.length > 2 * MAX_DEPTH'],
    ["else if ('}]'.includes(first)) names.pop();", ''],
    ['if (names?.has(name)) throw repeated(name);', ''],
    ["quoted.includes('\\\\') ? unquoted(quoted) :", ''],
    ['- Number(exponent) > 2', '- Number(exponent) > 3'],
    ['- Number(exponent) > 2', '> 2'],
  ]),
  ...mutantsOf('lib/http/static-text.ts', 'tests/unit/http/static-text.test.ts', [
    ['?? 0) > 0', '?? 0) >= 0'],
    ["byCoding.get('gzip') ??", ''],
    ['reply.status === 304 ||', ''],
  ]),
  ...mutantsOf('lib/store/batches.ts', 'tests/unit/store/batches.test.ts', [
    ['error instanceof UnprocessedError ||', ''],
    ['left = await send(left,', 'await send(left,'],
  ]),
  ...mutantsOf('cli/import/plan.ts', 'tests/unit/cli/import/plan.test.ts', [
    ['isOfThisLedger && !importsDeleted', '!importsDeleted'],
    ['&& !importsDeleted', ''],
    ['exported?.id && ', ''],
  ]),
  ...mutantsOf('lib/http/preconditions.ts', 'tests/unit/http/preconditions.test.ts', [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['record === `${kind}${id}`', 'record !== undefined'],
    ['versions.includes(version)', 'versions.some((each) => version >= each)'],
    ["!known.includes('*') && !known", "!known.includes('*') || !known"],
    [".replace(/^W\\//, '')", ''],
  ]),
  ...mutantsOf('lib/http/no-route.ts', 'tests/unit/http/no-route.test.ts', [
    ['allowed.length === 0 || allowed.includes(method)', 'allowed.length === 0'],
    ['allowed && !allowed.includes(method)', 'false'],
  ]),
];
