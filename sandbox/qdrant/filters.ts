// Filters over payloads: the conditions that the migration and the memory backend use. Other conditions throw.
import type { Schemas } from '@qdrant/js-client-rest';
import { readValues } from './payloads.ts';
import { toPointKey } from './point-ids.ts';
import type { StoredPoint } from './point-table.ts';
import { badRequest } from './refusal.ts';

type Filter = Schemas['Filter'];
type Predicate = (point: StoredPoint) => boolean;

interface Condition {
  readonly key?: string;
  readonly match?: { readonly value?: unknown; readonly any?: readonly unknown[] };
  readonly is_empty?: Schemas['PayloadField'];
  readonly is_null?: Schemas['PayloadField'];
  readonly has_id?: readonly (string | number)[];
  readonly has_vector?: string;
}

export function compileFilter(filter: Filter | null | undefined): Predicate {
  const must = parseConditions(filter?.must);
  const mustNot = parseConditions(filter?.must_not);
  const should = parseConditions(filter?.should);
  return (point) =>
    must.every((test) => test(point)) &&
    !mustNot.some((test) => test(point)) &&
    (should.length === 0 || should.some((test) => test(point)));
}

function parseConditions(clause: unknown): Predicate[] {
  return toList(clause).map((condition) =>
    isFilter(condition) ? compileFilter(condition) : compileCondition(condition),
  );
}

function toList(clause: unknown): (Condition | Filter)[] {
  if (clause === undefined || clause === null) return [];
  return (Array.isArray(clause) ? clause : [clause]) as (Condition | Filter)[];
}

function isFilter(condition: Condition | Filter): condition is Filter {
  return 'must' in condition || 'must_not' in condition || 'should' in condition;
}

function compileCondition({ key, match, is_empty, is_null, ...rest }: Condition): Predicate {
  const { has_id, has_vector } = rest;
  if (key !== undefined && match?.value !== undefined) {
    return ({ payload }) => readValues(payload, key).includes(match.value);
  }
  if (key !== undefined && match?.any !== undefined) {
    const any = new Set(match.any);
    return ({ payload }) => readValues(payload, key).some((value) => any.has(value));
  }
  if (is_empty) return ({ payload }) => readValues(payload, is_empty.key).every(isNull);
  if (is_null) return ({ payload }) => readValues(payload, is_null.key).some(isNull);
  if (has_id) {
    const keys = new Set(has_id.map((id) => toPointKey(JSON.stringify(id))));
    return ({ key: pointKey }) => keys.has(pointKey);
  }
  if (has_vector === '') return ({ dense }) => dense !== undefined;
  if (has_vector !== undefined) return ({ sparse }) => sparse?.has(has_vector) ?? false;
  throw badRequest('the sandbox does not know this filter condition');
}

function isNull(value: unknown): boolean {
  return value === null;
}
