// The page as a whole: header, ledger, messages, sheets and keyboard shortcuts.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { AddRow, beginTransaction } from './add-row.tsx';
import { EmptyList, Pages } from './below-list.tsx';
import { CategoriesSheet } from './categories.tsx';
import { CategoryChart } from './category-chart.tsx';
import { resumeMerge } from './category-merge.ts';
import { storedKey } from './client.ts';
import { Button, Field, NoticeBox, ScopeLink } from './components.tsx';
import { chooseCurrency, currency, format } from './format.ts';
import { DropTarget, ImportButton, ImportSheet, ImportsSheet } from './import-sheet.tsx';
import { Chips, SelectionBar } from './inbox.tsx';
import { focusWhenDrawn } from './kept-focus.ts';
import { reopenImport } from './kept-import.ts';
import { KeyForm } from './key-form.tsx';
import { keyQuestion } from './key-question.ts';
import {
  canWrite,
  failure,
  forgetKey,
  hasOnlySums,
  isLoading,
  me,
  outbox,
  refresh,
  scope,
  shownList,
  undoRemovals,
  view,
} from './ledger.ts';
import { Messages } from './messages.tsx';
import { reopenCategory } from './opened-category.ts';
import { PeriodChart, Tooltip } from './period-chart.tsx';
import { nameList } from './scope.ts';
import { ChangesOnPhone, Figures, ScopeBar } from './scope-bar.tsx';
import { isPhone } from './screen.ts';
import { isSheetOpen, Sheet } from './sheet.tsx';
import { TransactionList } from './transaction-list.tsx';

type SheetName = 'categories' | 'imports' | 'settings' | 'keys';

const sheet = signal<SheetName | undefined>(undefined);

const SHORTCUTS = [
  ['n', 'Add a transaction'],
  ['/', 'Search'],
  ['↑ ↓', 'Go through the transactions'],
  ['Enter', 'Open the transaction'],
  ['x', 'Select the transaction; with Shift, all up to it'],
  ['Delete', 'Delete the transaction'],
  ['[ ]', 'Previous month, next month'],
  ['?', 'Show these keys'],
] as const;

export function App() {
  useEffect(() => {
    addEventListener('keydown', onShortcut);
    return () => removeEventListener('keydown', onShortcut);
  }, []);
  useInterruptedWork();
  const asksForKey = keyQuestion.value !== undefined;
  return (
    <>
      <Header />
      <main>{asksForKey ? <KeyForm /> : <Ledger />}</main>
      <Tooltip />
      <DropTarget />
      <div class="toasts">
        {!isSheetOpen.value && !asksForKey && <Messages />}
        <UndoBar />
      </div>
      {!asksForKey && <OpenSheet />}
    </>
  );
}

/** Hidden while the page asks for a key: the form to enter it would be inert behind the sheet. */
function OpenSheet() {
  return (
    <>
      {sheet.value === 'categories' && (
        <CategoriesSheet onClose={closeSheet} onOpen={() => openSheet('categories')} />
      )}
      {sheet.value === 'imports' && <ImportsSheet onClose={closeSheet} />}
      {sheet.value === 'settings' && <SettingsSheet />}
      {sheet.value === 'keys' && <KeysSheet />}
    </>
  );
}

/** Resumes what a reload interrupted: shows the import and the settings of a category, and continues the merge. */
function useInterruptedWork(): void {
  const isWritable = canWrite.value;
  useEffect(() => {
    if (!isWritable) return;
    reopenImport();
    void resumeMerge();
    if (reopenCategory()) openSheet('categories');
  }, [isWritable]);
}

function openSheet(name: SheetName): void {
  sheet.value = name;
}

function closeSheet(): void {
  sheet.value = undefined;
}

function Header() {
  const caller = me.value;
  return (
    <header>
      <h1>Finance ledger</h1>
      <p class="caller">
        {caller && (
          <>
            <strong dir="auto">{caller.ledger}</strong>
            {caller.kind === 'key' && ` · key ${caller.name ?? caller.key_id} (${caller.scope})`}
            {caller.scope === 'read' && caller.kind !== 'key' && ' · read only'}
          </>
        )}
      </p>
      <SaveState />
      <HeaderActions />
    </header>
  );
}

function HeaderActions() {
  const isLedgerOpen = me.value !== undefined;
  return (
    <nav aria-label="Ledger">
      <ImportButton />
      {isLedgerOpen && (
        <Button kind="quiet" onClick={() => openSheet('categories')}>
          Categories
        </Button>
      )}
      <Button kind="quiet" onClick={() => openSheet('settings')}>
        Settings
      </Button>
      <Button kind="quiet" onClick={refresh}>
        Refresh
      </Button>
      {storedKey.read() !== undefined && isLedgerOpen && (
        <Button kind="quiet" onClick={forgetKey}>
          Forget key
        </Button>
      )}
      <a href="/docs">API</a>
    </nav>
  );
}

/**
 * Says how many changes are being saved, and offers another attempt while the service does not answer. A deletion counts only
 * once it can no longer be undone.
 */
function SaveState() {
  const writes = outbox.waiting.value.filter(({ sendAt, queuedAt }) => sendAt === queuedAt);
  const count = writes.reduce((sum, { changes }) => sum + changes.length, 0);
  const changes = format.counted(count, 'change');
  if (me.value && !canWrite.value && count > 0)
    return (
      <p class="state" role="status">
        {changes} not saved yet: this key only reads.
      </p>
    );
  if (outbox.isInterrupted.value && count > 0)
    return (
      <p class="state" role="status">
        {changes} not saved yet: the service does not answer.{' '}
        <Button kind="quiet" onClick={outbox.retryNow}>
          Try now
        </Button>
      </p>
    );
  return (
    <p class="state" role="status">
      {count > 1 ? `Saving ${changes}` : count === 1 ? 'Saving' : ''}
    </p>
  );
}

/**
 * Hides the figures of the previous scope as soon as the heading names another scope. Draws no placeholders before the first
 * view, because they would only be replaced.
 */
function Ledger() {
  const failedLoad = failure.value;
  const showsScope = shownList.value === nameList(scope.value);
  const hasLoadFailed =
    failedLoad !== undefined && nameList(failedLoad.scope) === nameList(scope.value);
  return (
    <div id="ledger" aria-busy={isLoading.value}>
      <ImportSheet />
      <ScopeBar />
      {hasLoadFailed && <LoadFailure hasFigures={showsScope} />}
      {view.value && (
        <div
          class={showsScope ? 'of-scope' : hasLoadFailed ? 'of-scope withheld' : 'of-scope stale'}
        >
          <Figures />
          <details class="charts" open={!isPhone.peek()}>
            <summary>Charts and comparison</summary>
            <ChangesOnPhone />
            {hasOnlySums.value ? (
              <p class="card no-charts">
                Charts show at most 100 search results. This search found more.
              </p>
            ) : (
              <div class="chart-row">
                <PeriodChart />
                <CategoryChart />
              </div>
            )}
          </details>
          <Chips />
          <AddRow />
          <SelectionBar />
          <TransactionList />
          <EmptyList />
          <Pages />
        </div>
      )}
    </div>
  );
}

function LoadFailure({ hasFigures }: { readonly hasFigures: boolean }) {
  const error = failure.value?.error;
  const periodRefusal = error?.refusalOf('group_by');
  const request = error?.requestId ? ` (request ${error.requestId})` : '';
  const retry = error?.isRetryable ? ' The page tries again.' : '';
  const age =
    hasFigures && view.value
      ? ` The figures shown are from ${format.time(view.value.readAt)}.`
      : '';
  return (
    <div role="alert">
      <NoticeBox
        text={
          periodRefusal
            ? `${periodRefusal} Choose a year, or a shorter range.`
            : `${error?.message}${request}${retry}${age}`
        }
      >
        {periodRefusal ? (
          <ScopeLink to={{ period: '12m' }}>Show 12 months</ScopeLink>
        ) : (
          <Button onClick={refresh}>Try again</Button>
        )}
      </NoticeBox>
    </div>
  );
}

function UndoBar() {
  const removals = outbox.undoable.value.flatMap(({ changes }) => changes);
  if (removals.length === 0) return null;
  const [{ before } = {}] = removals;
  const undo = () => {
    undoRemovals();
    focusWhenDrawn(`.entry[data-id="${before?.id}"]`);
  };
  const text =
    removals.length === 1
      ? `Deleted “${before?.description}”`
      : `Deleted ${format.counted(removals.length, 'transaction')}`;
  return (
    <div class="toast" role="status">
      <span dir="auto">{text}</span>
      <Button kind="primary" onClick={undo}>
        Undo
      </Button>
    </div>
  );
}

function SettingsSheet() {
  return (
    <Sheet title="Settings" onClose={closeSheet}>
      <div class="stack">
        <CurrencyChoice />
        <div class="buttons">
          <Button onClick={() => openSheet('imports')}>Imports of this ledger</Button>
          <Button onClick={() => openSheet('keys')}>Keyboard shortcuts</Button>
        </div>
      </div>
    </Sheet>
  );
}

function KeysSheet() {
  return (
    <Sheet title="Keyboard shortcuts" onClose={closeSheet}>
      <table class="shortcuts">
        <tbody>
          {SHORTCUTS.map(([key, meaning]) => (
            <tr key={key}>
              <th scope="row">
                <kbd>{key}</kbd>
              </th>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Sheet>
  );
}

function CurrencyChoice() {
  const names = new Intl.DisplayNames(undefined, { type: 'currency' });
  return (
    <>
      <Field label="Currency sign, in this browser">
        {(id) => (
          <select
            {...id}
            value={currency.value}
            onChange={({ currentTarget }) => chooseCurrency(currentTarget.value)}
          >
            <option value="">None</option>
            {Intl.supportedValuesOf('currency').map((code) => (
              <option key={code} value={code}>
                {code} {names.of(code)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <p class="hint">The ledger stores amounts without a currency.</p>
    </>
  );
}

function onShortcut(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isTyping = target.closest('input:not([type=checkbox]), select, textarea, dialog');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const run = {
    n: beginTransaction,
    '/': () => focus('.search input'),
    '?': () => openSheet('keys'),
    '[': () => press('.stepper button:first-child'),
    ']': () => press('.stepper button:last-child'),
    ArrowDown: () => canEnterList(target) && focus('.entry'),
  }[event.key];
  if (!run || keyQuestion.value) return;
  if (event.key === 'ArrowDown' && !canEnterList(target)) return;
  event.preventDefault();
  run();
}

/** True if only the page or its heading has the focus: a control handles the arrow keys itself. */
function canEnterList(target: HTMLElement): boolean {
  return target.matches('body, .stepper h2');
}

function focus(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

function press(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.click();
}
