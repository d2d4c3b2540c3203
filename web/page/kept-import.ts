// Keeps the result of an import in the tab, or the fact that it is under way: after a reload the page shows the result again, or
// says that the import was interrupted.
import { currentImport, type ImportResult } from './import-state.ts';
import { dropDraft, keepDraft, nameInLedger, readDraft } from './kept-drafts.ts';
import { outbox } from './ledger.ts';

type KeptImport = ImportResult | { readonly stage: 'sending' | 'undoing'; readonly name: string };

const INTERRUPTED = {
  sending:
    'The import was interrupted. Choose the file again: rows that are already in the ledger are not added twice.',
  undoing:
    'The import was only partly undone. Undo it again under Settings, Imports of this ledger.',
} as const;

const nameDraft = () => nameInLedger('import', outbox.ledger.peek());

export function watchImport(): void {
  currentImport.subscribe((state) => {
    if (outbox.ledger.peek() === undefined) return;
    if (state?.stage === 'done') keepDraft(nameDraft(), state satisfies KeptImport);
    else if (state?.stage === 'sending' || state?.stage === 'undoing')
      keepDraft(nameDraft(), { stage: state.stage, name: state.name } satisfies KeptImport);
    else dropDraft(nameDraft());
  });
}

/** Shows the import that a reload has interrupted, or its result. */
export function reopenImport(): void {
  const keptImport = readDraft<KeptImport>(nameDraft());
  if (!keptImport || currentImport.peek()) return;
  const { stage, name } = keptImport;
  currentImport.value =
    stage === 'done'
      ? keptImport
      : {
          ...{ stage: 'preview', name, bytes: new Uint8Array(), options: {} },
          ...{ importsDeleted: false, reading: undefined, problem: INTERRUPTED[stage] },
        };
}
