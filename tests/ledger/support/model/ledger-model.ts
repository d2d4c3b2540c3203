// A plain model of a ledger: two maps, and the rules of docs/ledger/api.md.

/** The fields that clients set, with their names in JSON, and those that the service assigns. */
export interface ModelTransaction {
  readonly id: number;
  readonly created_at: string;
  readonly description: string;
  readonly amount: number;
  readonly type: 'income' | 'expense';
  readonly category_id: number | null;
  readonly transaction_date: string;
  readonly notes: string | null;
}

export interface ModelCategory {
  readonly id: number;
  readonly created_at: string;
  readonly name: string;
  readonly description: string | null;
  readonly color: string | null;
  readonly is_active: boolean;
}

export interface Model {
  readonly transactions: ReadonlyMap<number, ModelTransaction>;
  readonly categories: ReadonlyMap<number, ModelCategory>;
}

export type Refusal = '400 validation_failed' | '404 not_found' | '409 conflict';

/** Fields that the service gives a new record. */
export type AssignedFields = Pick<ModelTransaction, 'id' | 'created_at'>;

export type TransactionFields = Omit<ModelTransaction, keyof AssignedFields>;
export type CategoryFields = Omit<ModelCategory, keyof AssignedFields>;

export type Command =
  | { readonly kind: 'create transaction'; readonly fields: TransactionFields }
  | {
      readonly kind: 'update transaction';
      readonly id: number;
      readonly changes: Partial<TransactionFields>;
    }
  | { readonly kind: 'delete transaction'; readonly id: number }
  | { readonly kind: 'create category'; readonly fields: CategoryFields }
  | {
      readonly kind: 'update category';
      readonly id: number;
      readonly changes: Partial<CategoryFields>;
    }
  | { readonly kind: 'delete category'; readonly id: number };

export const EMPTY_MODEL: Model = { transactions: new Map(), categories: new Map() };

/** Lists every reason to refuse a command, in the order of the service's checks; empty if the command succeeds. */
export function listRefusals(model: Model, command: Command): Refusal[] {
  switch (command.kind) {
    case 'create transaction':
      return refuseUnassignable(model, command.fields.category_id);
    case 'update transaction':
      return [
        ...refuseUnknown(model.transactions, command.id),
        ...refuseUnassignable(model, command.changes.category_id),
      ];
    case 'delete transaction':
      return refuseUnknown(model.transactions, command.id);
    case 'create category':
      return refuseTakenName(model, command.fields.name);
    case 'update category':
      return [
        ...refuseUnknown(model.categories, command.id),
        ...refuseTakenName(model, command.changes.name, command.id),
      ];
    case 'delete category':
      return [...refuseUnknown(model.categories, command.id), ...refuseInUse(model, command.id)];
  }
}

/** @returns the ledger after a command that is not refused */
export function applyCommand(
  model: Model,
  command: Command,
  { id, created_at }: AssignedFields,
): Model {
  const { transactions, categories } = model;
  const assigned = { id, created_at };
  switch (command.kind) {
    case 'create transaction':
      return {
        categories,
        transactions: withRecord(transactions, { ...assigned, ...command.fields }),
      };
    case 'update transaction':
      return { categories, transactions: withChanges(transactions, command.id, command.changes) };
    case 'delete transaction':
      return { categories, transactions: withoutRecord(transactions, command.id) };
    case 'create category':
      return {
        transactions,
        categories: withRecord(categories, { ...assigned, ...command.fields }),
      };
    case 'update category':
      return { transactions, categories: withChanges(categories, command.id, command.changes) };
    case 'delete category':
      return {
        transactions,
        categories: withChanges(categories, command.id, { is_active: false }),
      };
  }
}

export interface ModelFilter {
  readonly type?: string;
  readonly category_id?: number | 'none';
  readonly start_date?: string;
  readonly end_date?: string;
}

/** Selects transactions, newest first: by date, then creation, then id. */
export function selectTransactions(
  { transactions }: Model,
  filter: ModelFilter,
): ModelTransaction[] {
  const { type, start_date = '0000', end_date = '9999-99-99' } = filter;
  const category_id = filter.category_id === 'none' ? null : filter.category_id;
  return [...transactions.values()]
    .filter((each) => type === undefined || each.type === type)
    .filter((each) => category_id === undefined || each.category_id === category_id)
    .filter(({ transaction_date: date }) => date >= start_date && date <= end_date)
    .sort(
      (first, second) =>
        second.transaction_date.localeCompare(first.transaction_date) ||
        second.created_at.localeCompare(first.created_at) ||
        second.id - first.id,
    );
}

export function countInCategory({ transactions }: Model, categoryId: number): number {
  return transactions
    .values()
    .filter(({ category_id }) => category_id === categoryId)
    .toArray().length;
}

function refuseUnknown(records: ReadonlyMap<number, unknown>, id: number): Refusal[] {
  return records.has(id) ? [] : ['404 not_found'];
}

function refuseUnassignable({ categories }: Model, id: number | null | undefined): Refusal[] {
  if (id === null || id === undefined) return [];
  const category = categories.get(id);
  if (!category) return ['404 not_found'];
  return category.is_active ? [] : ['400 validation_failed'];
}

function refuseTakenName(
  { categories }: Model,
  name: string | undefined,
  exceptId?: number,
): Refusal[] {
  const isTaken = categories.values().some((each) => each.name === name && each.id !== exceptId);
  return isTaken ? ['409 conflict'] : [];
}

function refuseInUse(model: Model, id: number): Refusal[] {
  return countInCategory(model, id) > 0 ? ['409 conflict'] : [];
}

function withRecord<Each extends { readonly id: number }>(
  records: ReadonlyMap<number, Each>,
  record: NoInfer<Each>,
) {
  return new Map([...records, [record.id, record]]);
}

function withChanges<Each extends { readonly id: number }>(
  records: ReadonlyMap<number, Each>,
  id: number,
  changes: Partial<NoInfer<Each>>,
) {
  const record = records.get(id);
  return record ? withRecord(records, { ...record, ...changes }) : records;
}

function withoutRecord<Each>(records: ReadonlyMap<number, Each>, id: number) {
  return new Map([...records].filter(([each]) => each !== id));
}
