// The name of a new category, as a person types it. It stays until the category is created, even if the sheet closes, and
// survives a reload.
import { createCategory } from './category-writes.ts';
import { dropDraft, keepDraft, nameInLedger, readDraft } from './kept-drafts.ts';
import { announcement, me } from './ledger.ts';

interface NameDraft {
  readonly name: string;
}

const nameDraft = () => nameInLedger('new-category', me.peek()?.ledger);

export function readNewName(): string {
  return readDraft<NameDraft>(nameDraft())?.name ?? '';
}

export function keepNewName(name: string): void {
  if (name === '') dropDraft(nameDraft());
  else keepDraft(nameDraft(), { name } satisfies NameDraft);
}

/** Creates a category with the typed name. Keeps a name that is typed meanwhile. @throws ApiError */
export async function createNewCategory(): Promise<void> {
  const typedName = readNewName();
  const name = typedName.trim();
  if (name === '') return;
  await createCategory({ name });
  announcement.value = `Category ${name} created`;
  if (readNewName() === typedName) keepNewName('');
}
