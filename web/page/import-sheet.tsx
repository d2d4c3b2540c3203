// Shows an import: the ways to choose a file, the progress, the result, and the list of earlier imports.
import { effect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, NoticeBox, ScopeLink } from './components.tsx';
import { format } from './format.ts';
import { Lines, PreviewCard } from './import-preview.tsx';
import { undoImport } from './import-run.ts';
import {
  closeImport,
  currentImport,
  type ImportResult,
  isImportUnderWay,
  leftAfterUndo,
  openFile,
} from './import-state.ts';
import { useKeepFocusInList } from './kept-focus.ts';
import { canWrite, notice, scope, view } from './ledger.ts';
import { isWaiting } from './repeated-call.ts';
import { scopeHash, UNFILTERED } from './scope.ts';
import { Sheet } from './sheet.tsx';
import { readRows } from './view.ts';

export function ImportButton() {
  const input = useRef<HTMLInputElement>(null);
  if (!canWrite.value) return null;
  return (
    <>
      <Button onClick={() => input.current?.click()}>Import a file</Button>
      <input
        ref={input}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-hidden="true"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          currentTarget.value = '';
          if (file) void openFile(file);
        }}
      />
    </>
  );
}

/** Opens a file that is dropped anywhere on the page. */
export function DropTarget() {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (!canWrite.value || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(true);
    };
    const onDragLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const onDrop = (event: DragEvent) => {
      const [file] = event.dataTransfer?.files ?? [];
      setOver(false);
      if (!canWrite.value || !file) return;
      event.preventDefault();
      void openFile(file);
    };
    addEventListener('dragover', onDragOver);
    addEventListener('dragleave', onDragLeave);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onDragOver);
      removeEventListener('dragleave', onDragLeave);
      removeEventListener('drop', onDrop);
    };
  }, []);
  return isOver ? <p class="drop-target">Drop the file to preview its import</p> : null;
}

/** Keeps the focus while one stage replaces another, and at the same place when the last one disappears. */
export function ImportSheet() {
  const place = useRef<HTMLDivElement>(null);
  useKeepFocusInList(place, '.import', (section) => section);
  return (
    <div ref={place} class="import-place" tabIndex={-1}>
      {drawStage(currentImport.value, leftAfterUndo.value)}
    </div>
  );
}

function drawStage(state: typeof currentImport.value, remainingTexts: typeof leftAfterUndo.value) {
  if (remainingTexts)
    return (
      <NoticeBox
        text={`Not removed: ${format.counted(remainingTexts.length, 'imported transaction')}.`}
        details={remainingTexts}
      >
        <Button onClick={closeImport}>Dismiss</Button>
      </NoticeBox>
    );
  if (!state) return null;
  if (state.stage === 'preview') return <PreviewCard key={state.name} state={state} />;
  if (state.stage === 'done') return <ResultCard state={state} />;
  const verb = { reading: 'Reading', sending: 'Importing', undoing: 'Undoing' }[state.stage];
  const count = `${format.count(state.done)} of ${format.count(state.total)}`;
  return (
    <section class="card import" aria-label="Import" tabIndex={-1}>
      <p dir="auto">
        {verb} {state.name}
        {state.total > 0 && `: ${count}`}
      </p>
      <progress
        aria-label={verb}
        max={Math.max(1, state.total)}
        {...(state.total > 0 ? { value: state.done } : {})}
      />
      {isWaiting.value && <p role="status">The service does not answer. The page tries again.</p>}
    </section>
  );
}

function ResultCard({ state }: { readonly state: ImportResult }) {
  const { name, importId, created, changed, present, leftOut, refused, period } = state;
  const hasUncategorisedRows = period !== undefined && state.uncategorised > 0;
  const importedScope = { ...UNFILTERED, ...(period && { period }) };
  const inboxScope = { ...importedScope, category: 'none' } as const;
  return (
    <section class="card import" aria-label="Imported" tabIndex={-1}>
      <p role="status" dir="auto">
        <strong>{format.count(created)} imported</strong> from {name},{' '}
        {changed > 0 && `${format.count(changed)} changed, `}
        {leftOut > 0 && `${format.counted(leftOut, 'possible duplicate')} left out, `}
        {format.count(present)} already there, {format.count(refused.length)} refused.
      </p>
      <Lines lines={refused} />
      <div class="buttons">
        {created > 0 && <Button onClick={() => undo(importId, name)}>Undo</Button>}
        <Button kind={hasUncategorisedRows ? 'plain' : 'primary'} onClick={closeImport}>
          Done
        </Button>
        {period && scopeHash(scope.value, importedScope) !== scopeHash(scope.value, {}) && (
          <ScopeLink class="button plain" to={importedScope}>
            Show {format.scope(period)}
          </ScopeLink>
        )}
        {hasUncategorisedRows && (
          <ScopeLink
            class="button primary"
            to={inboxScope}
            onClick={() => focusFirstField(scopeHash(scope.peek(), inboxScope))}
          >
            Categorise them
          </ScopeLink>
        )}
      </div>
    </section>
  );
}

/**
 * Scrolls to the inbox as soon as it is shown, and focuses the category field of its first row, so that the person can start
 * typing.
 */
function focusFirstField(inbox: string): void {
  const stop = effect(() => {
    const currentView = view.value;
    if (!currentView || scopeHash(currentView.scope) !== inbox) return;
    requestAnimationFrame(() => {
      stop();
      document.querySelector('.chips')?.scrollIntoView();
      document.querySelector<HTMLElement>('.entry [role=combobox]')?.focus();
    });
  });
}

function undo(importId: string, name: string): void {
  if (isImportUnderWay()) {
    notice.value = { text: `${name} was not undone: wait until the transactions are written.` };
    return;
  }
  undoImport(importId, name).catch((error) => {
    closeImport();
    notice.value = { text: `The import was not undone. ${error.message}` };
  });
}

interface PastImport {
  readonly id: string;
  readonly count: number;
}

/** Reads the imports whose rows the ledger has, the latest first. `imports` is undefined until they are read. */
function usePastImports() {
  const [imports, setImports] = useState<readonly PastImport[] | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    readRows({})
      .then((rows) => {
        const byImport = Map.groupBy(rows, (row) => row.import_id ?? '');
        byImport.delete('');
        const pastImports = [...byImport].map(([id, created]) => ({ id, count: created.length }));
        setImports(pastImports.toSorted((first, second) => (first.id < second.id ? 1 : -1)));
      })
      .catch((error) => setProblem(error.message));
  }, []);
  return { imports, problem };
}

export function ImportsSheet({ onClose }: { readonly onClose: () => void }) {
  const { imports, problem } = usePastImports();
  return (
    <Sheet title="Imports" onClose={onClose}>
      {problem && <p class="field-error">{problem}</p>}
      {imports?.length === 0 && <p>This ledger has no imports.</p>}
      <ul class="categories">
        {imports?.map(({ id, count }) => (
          <li key={id} class="category-line">
            <span class="name" dir="auto">
              {id}
            </span>
            <span class="quiet-text">{format.count(count)}</span>
            {canWrite.value && (
              <Button
                aria-label={`Undo ${id}`}
                onClick={() => {
                  onClose();
                  undo(id, id);
                }}
              >
                Undo
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Sheet>
  );
}
