// The sheet of an import: fields and a preview of what the file would add, then its progress and its result.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Change, ImportPlan } from '../../lib/ledger/import/plan.ts';
import type { Statement, StatementOptions } from '../../lib/ledger/import/statement.ts';
import {
  type Done,
  forgetLayout,
  type ImportChoices,
  importing,
  isWaiting,
  leftAfterUndo,
  openFile,
  type Preview,
  preview,
  runImport,
  undoImport,
} from './bring-in.ts';
import { Button, Field, NoticeBox, ScopeLink, Sheet } from './components.tsx';
import { format } from './format.ts';
import { canWrite, notice, readLedgerRows } from './ledger.ts';

const MAX_SHOWN_ROWS = 8;
const MAX_SHOWN_LINES = 50;

const COLUMNS = [
  ['date', 'Date column'],
  ['description', 'Description column'],
  ['amount', 'Amount column'],
  ['debit', 'Debit column'],
  ['credit', 'Credit column'],
  ['fee', 'Fee column'],
  ['category', 'Category column'],
  ['externalId', "Column of the bank's id"],
] as const;

/** Names the field of this page for each option of the command line that a sentence of the importer names. */
const FIELDS_OF_OPTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(COLUMNS.map(([field, label]) => [field, label])),
  id: "Column of the bank's id",
  'date-order': 'Order of dates',
  decimal: 'Decimal sign',
  invert: 'Expenses are positive',
  'as-it-is': 'The preview is right as it is',
  currency: 'Only this currency',
  'only-account': 'Only this account of the file',
  account: 'Name of the account',
  encoding: 'Encoding',
};

function sayFields(sentence: string): string {
  return sentence.replace(/--([a-z-]+)(?: [A-Z]+(?:,[A-Z]+)*)?/g, (option, name) => {
    const label = FIELDS_OF_OPTIONS[name];
    return label ? `“${label}”` : option;
  });
}

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

/** A file can be dropped anywhere on the page. */
export function DropTarget() {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!canWrite.value || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      const [file] = event.dataTransfer?.files ?? [];
      setOver(false);
      if (!canWrite.value || !file) return;
      event.preventDefault();
      void openFile(file);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, []);
  return isOver ? <p class="drop-target">Drop the file to see what it would bring in</p> : null;
}

function close(): void {
  importing.value = undefined;
  leftAfterUndo.value = undefined;
}

export function ImportSheet() {
  const state = importing.value;
  const left = leftAfterUndo.value;
  if (left)
    return (
      <NoticeBox text={`${format.count(left.length)} imported transactions stay:`} details={left}>
        <Button onClick={close}>Dismiss</Button>
      </NoticeBox>
    );
  if (!state) return null;
  if (state.stage === 'preview') return <PreviewCard key={state.name} state={state} />;
  if (state.stage === 'done') return <DoneCard state={state} />;
  const verb = { reading: 'Reading', sending: 'Importing', undoing: 'Taking back' }[state.stage];
  const count = `${format.count(state.done)} of ${format.count(state.total)}`;
  return (
    <section class="card import" aria-label="Import">
      <p dir="auto">
        {verb} {state.name}
        {state.total > 0 && `: ${count}`}
      </p>
      <progress
        aria-label={verb}
        max={Math.max(1, state.total)}
        {...(state.total > 0 ? { value: state.done } : {})}
      />
      {isWaiting.value && <p role="status">The service does not answer. It is asked again.</p>}
    </section>
  );
}

function DoneCard({ state }: { readonly state: Done }) {
  const { name, importId, created, changed, present, leftOut, refused, period } = state;
  return (
    <section class="card import" aria-label="Imported">
      <p role="status" dir="auto">
        <strong>{format.count(created)} imported</strong> from {name},{' '}
        {changed > 0 && `${format.count(changed)} changed, `}
        {leftOut > 0 && `${format.count(leftOut)} possible duplicates left out, `}
        {format.count(present)} were there already, {format.count(refused.length)} refused.
      </p>
      <Lines lines={refused} />
      <div class="buttons">
        {created > 0 && <Button onClick={() => undo(importId, name)}>Undo</Button>}
        {period && created > 0 && (
          <ScopeLink class="button" to={{ period, category: 'none', type: undefined, q: '' }}>
            Sort them in
          </ScopeLink>
        )}
        <Button kind="primary" onClick={close}>
          Done
        </Button>
      </div>
    </section>
  );
}

function undo(importId: string, name: string): void {
  undoImport(importId, name).catch((error) => {
    close();
    notice.value = { text: `The import was not taken back. ${error.message}` };
  });
}

function PreviewCard({ state }: { readonly state: Preview }) {
  const [withDuplicates, setWithDuplicates] = useState(false);
  const [withChanges, setWithChanges] = useState(false);
  const choices = { withDuplicates, withChanges };
  const card = useRef<HTMLElement>(null);
  useEffect(() => card.current?.focus(), []);
  const { reading, problem, name } = state;
  const needs = reading ? [...reading.statement.needs, ...reading.plan.needs] : [];
  return (
    <section ref={card} class="card import" aria-label="Import preview" tabIndex={-1}>
      <div class="title">
        <h2 dir="auto">{name}</h2>
      </div>
      {problem && <p class="field-error">{sayFields(problem)}</p>}
      {needs.map(({ message }) => (
        <p key={message} class="field-error">
          {sayFields(message)}
        </p>
      ))}
      {reading && <Facts reading={reading} />}
      <OptionFields key={name} state={state} isOpen={problem !== '' || needs.length > 0} />
      {reading && (
        <>
          <Duplicates plan={reading.plan} isOn={withDuplicates} onChange={setWithDuplicates} />
          <Changes changes={reading.plan.changes} isOn={withChanges} onChange={setWithChanges} />
        </>
      )}
      <div class="buttons">
        <Button onClick={close}>Cancel</Button>
        {reading && (
          <Button
            kind="primary"
            disabled={needs.length > 0 || countWork(reading.plan, choices) === 0}
            onClick={() => runImport(state, choices)}
          >
            Import
          </Button>
        )}
      </div>
    </section>
  );
}

function countWork(
  { missing, possibleDuplicates, changes }: ImportPlan,
  { withDuplicates, withChanges }: ImportChoices,
): number {
  const doubtful = withDuplicates ? 0 : possibleDuplicates.length;
  return missing.length - doubtful + (withChanges ? changes.length : 0);
}

/** Shows how the file was read, and what an import of it would do. */
function Facts({ reading }: { readonly reading: NonNullable<Preview['reading']> }) {
  const { statement, plan, choices } = reading;
  const { rows, refused, leftOut, findings, columns, encoding } = statement;
  const sum = (type: 'income' | 'expense') =>
    rows
      .filter((row) => row.type === type)
      .reduce((total, row) => total + Math.round(row.amount * 100), 0) / 100;
  const days = rows.map(({ date }) => date).toSorted();
  const [first, last] = [days[0], days.at(-1)];
  const used = Object.entries(columns).map(([field, name]) => `${field}: ${name}`);
  const without = plan.missing.filter(({ category }) => category === null).length;
  return (
    <>
      <p>
        <strong>{format.count(plan.missing.length)} new</strong>
        {`, ${format.count(plan.present)} there already, ${format.count(leftOut.length)} left out, ${format.count(refused.length + plan.refused.length)} refused. `}
        {first && last && `${format.date(first)} – ${format.date(last)}, `}
        income {format.money(sum('income'))}, expense {format.money(sum('expense'))}
        {without > 0 && `, ${format.count(without)} without a category`}.
      </p>
      <p class="hint" dir="auto">
        {[statement.format, ...(encoding && encoding !== 'utf-8' ? [encoding] : []), ...used].join(
          ' · ',
        )}
      </p>
      {findings.map((finding) => (
        <p key={finding} class="hint" dir="auto">
          {sayFields(finding)}
        </p>
      ))}
      <SampleRows plan={plan} />
      <Lines
        title="With the category of earlier rows"
        lines={choices.chosen.map(({ row, category }) => `${row.description}: ${category}`)}
      />
      <Lines
        title="Deleted before, and left out"
        lines={plan.deleted.map(({ line, description }) => `Line ${line}: ${description}`)}
      />
      <Lines
        title="Left out"
        lines={leftOut.map(({ line, reason, text }) => `Line ${line}: ${reason}. ${text}`)}
      />
      <Lines
        title="Refused"
        lines={[...refused, ...plan.refused].map(
          ({ line, message }) => `Line ${line}: ${sayFields(message)}`,
        )}
      />
    </>
  );
}

function SampleRows({ plan: { missing } }: { readonly plan: ImportPlan }) {
  if (missing.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also without a pointer
    <section class="scroll sample" tabIndex={0} aria-label="First new transactions">
      <table>
        <thead>
          <tr>
            <th scope="col">Date</th>
            <th scope="col">Description</th>
            <th scope="col">Amount</th>
            <th scope="col">Category</th>
          </tr>
        </thead>
        <tbody>
          {missing.slice(0, MAX_SHOWN_ROWS).map((row) => (
            <tr key={row.line}>
              <td>{format.date(row.date)}</td>
              <td class="wide" dir="auto">
                {row.description}
              </td>
              <td>{format.signed(row.type === 'income' ? row.amount : -row.amount)}</td>
              <td dir="auto">{row.category ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Lines({ title, lines }: { readonly title?: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <details>
      <summary>
        {title ?? 'Refused'} ({format.count(lines.length)})
      </summary>
      <ul class="lines">
        {lines.slice(0, MAX_SHOWN_LINES).map((line) => (
          <li key={line} dir="auto">
            {line}
          </li>
        ))}
      </ul>
    </details>
  );
}

interface DuplicatesProps {
  readonly plan: ImportPlan;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function Duplicates({ plan: { possibleDuplicates: doubtful }, isOn, onChange }: DuplicatesProps) {
  if (doubtful.length === 0) return null;
  return (
    <>
      <Lines
        title="Possible duplicates"
        lines={doubtful.map(
          ({ row, there }) =>
            `Line ${row.line}: ${row.description}, ${format.money(row.amount)} – the ledger has ${there.description} on ${format.date(there.date)}`,
        )}
      />
      <Check
        label={`Bring in the ${format.count(doubtful.length)} possible duplicates, too`}
        isOn={isOn}
        onChange={onChange}
      />
    </>
  );
}

interface ChangesProps {
  readonly changes: readonly Change[];
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** The rows of an export that were edited in the file. */
function Changes({ changes, isOn, onChange }: ChangesProps) {
  if (changes.length === 0) return null;
  return (
    <>
      <Lines title="Edited in the file" lines={changes.map(describeChange)} />
      <Check
        label={`Change the ${format.count(changes.length)} transactions that the file has edited`}
        isOn={isOn}
        onChange={onChange}
      />
    </>
  );
}

function describeChange({ row, there, fields }: Change): string {
  const texts = fields.map(
    (field) => `${field} ${there[field] ?? 'none'} → ${row[field] ?? 'none'}`,
  );
  return `Line ${row.line}: ${there.description}: ${texts.join(', ')}`;
}

function OptionFields({ state, isOpen }: { readonly state: Preview; readonly isOpen: boolean }) {
  const { options, reading } = state;
  const change = (changes: StatementOptions) =>
    preview({ ...state, options: { ...options, ...changes } }, { isAgain: true });
  const layout = reading?.statement.layout;
  return (
    <details open={isOpen}>
      <summary>How the file is read{layout?.recalled && ' (as last time)'}</summary>
      <div class="options">
        <ColumnFields state={state} onChange={change} />
        <Choice
          label="Order of dates"
          value={options.dateOrder ?? ''}
          choices={[
            ['', 'As most dates'],
            ['ymd', 'Year, month, day'],
            ['dmy', 'Day, month, year'],
            ['mdy', 'Month, day, year'],
          ]}
          onChange={(value) =>
            change({ dateOrder: (value || undefined) as StatementOptions['dateOrder'] })
          }
        />
        <Choice
          label="Decimal sign"
          value={options.decimal ?? ''}
          choices={[
            ['', 'As most amounts'],
            ['point', 'Point'],
            ['comma', 'Comma'],
          ]}
          onChange={(value) =>
            change({ decimal: (value || undefined) as StatementOptions['decimal'] })
          }
        />
        <TextOption
          label="Name of the account"
          value={options.account}
          onChange={(account) => change({ account })}
        />
        <TextOption
          label="Only this currency"
          value={options.currency}
          onChange={(currency) => change({ currency })}
        />
        <TextOption
          label="Only this account of the file"
          value={options.onlyAccount}
          onChange={(onlyAccount) => change({ onlyAccount })}
        />
        <TextOption
          label="Encoding"
          value={options.encoding}
          onChange={(encoding) => change({ encoding })}
        />
        <Check
          label="Expenses are positive"
          isOn={options.isInverted}
          onChange={(isInverted) => change({ isInverted })}
        />
        <Check
          label="The preview is right as it is"
          isOn={options.isAsItIs}
          onChange={(isAsItIs) => change({ isAsItIs })}
        />
      </div>
      {layout?.recalled && (
        <Button
          onClick={() => {
            forgetLayout(reading?.statement as Statement);
            void preview(state, { isAgain: true });
          }}
        >
          Forget how such files are read
        </Button>
      )}
    </details>
  );
}

interface ColumnFieldsProps {
  readonly state: Preview;
  readonly onChange: (changes: StatementOptions) => void;
}

/** Names of columns, or their numbers from 1. */
function ColumnFields({ state: { options, reading }, onChange }: ColumnFieldsProps) {
  const { columns = {}, ignored = [] } = reading?.statement ?? {};
  const names = [...Object.values(columns).flatMap((each) => each.split(', ')), ...ignored];
  return (
    <>
      <datalist id="columns-of-file">
        {[...new Set(names)].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {COLUMNS.map(([field, label]) => (
        <TextOption
          key={field}
          label={label}
          list="columns-of-file"
          value={options.columns?.[field]}
          placeholder={columns[field] ?? ''}
          onChange={(name) => onChange({ columns: { ...options.columns, [field]: name } })}
        />
      ))}
    </>
  );
}

interface TextOptionProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly list?: string;
  readonly placeholder?: string;
}

function TextOption({ label, value, onChange, ...rest }: TextOptionProps) {
  return (
    <Field label={label}>
      {(id) => (
        <input
          type="text"
          dir="auto"
          autocomplete="off"
          {...rest}
          {...id}
          value={value ?? ''}
          onChange={({ currentTarget }) => onChange(currentTarget.value.trim() || undefined)}
        />
      )}
    </Field>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  return (
    <Field label={label}>
      {(id) => (
        <select
          {...id}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          {choices.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  readonly label: string;
  readonly isOn: boolean | undefined;
  readonly onChange: (isOn: boolean) => void;
}

function Check({ label, isOn = false, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {label}
    </label>
  );
}

interface PastImport {
  readonly id: string;
  readonly count: number;
}

/** The imports that the ledger has, the latest first. */
export function ImportsSheet({ onClose }: { readonly onClose: () => void }) {
  const [imports, setImports] = useState<readonly PastImport[] | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    readLedgerRows()
      .then((rows) => {
        const byImport = Map.groupBy(rows, (row) => row.import_id ?? '');
        byImport.delete('');
        const all = [...byImport].map(([id, some]) => ({ id, count: some.length }));
        setImports(all.toSorted((one, other) => (one.id < other.id ? 1 : -1)));
      })
      .catch((error) => setProblem(error.message));
  }, []);
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
