// The preview of an import: what was read, what would be added or changed, and what is left out.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Change, ImportPlan } from '../../lib/ledger/import/plan.ts';
import type { StatementRow } from '../../lib/ledger/import/transaction-row.ts';
import { Button, Check } from './components.tsx';
import { format } from './format.ts';
import { nameFields, OptionFields } from './import-options.tsx';
import { chooseRows, type ImportChoices, runImport } from './import-run.ts';
import { closeImport, type Preview, preview } from './import-state.ts';

const MAX_SHOWN_ROWS = 8;
const MAX_SHOWN_LINES = 50;

export function PreviewCard({ state }: { readonly state: Preview }) {
  const [choices, setChoices] = useState({ withDuplicates: false, withChanges: false });
  const card = useRef<HTMLElement>(null);
  useEffect(() => card.current?.focus(), []);
  const { reading, problem, name } = state;
  const questions = reading ? [...reading.statement.questions, ...reading.plan.questions] : [];
  return (
    <section ref={card} class="card import" aria-label="Import preview" tabIndex={-1}>
      <div class="title">
        <h2 dir="auto">{name}</h2>
      </div>
      {problem && <p class="field-error">{nameFields(problem)}</p>}
      {questions.map(({ message }) => (
        <p key={message} class="field-error">
          {nameFields(message)}
        </p>
      ))}
      {reading && <Facts reading={reading} rows={chooseRows(reading.plan, choices)} />}
      <OptionFields key={name} state={state} isOpen={problem !== '' || questions.length > 0} />
      {reading && (
        <PlanParts state={state} plan={reading.plan} choices={choices} onChoose={setChoices} />
      )}
      <div class="buttons">
        <Button onClick={closeImport}>Cancel</Button>
        {reading && (
          <Button
            kind="primary"
            disabled={questions.length > 0 || countWork(reading.plan, choices) === 0}
            onClick={() => runImport(state, choices)}
          >
            Import
          </Button>
        )}
      </div>
    </section>
  );
}

interface PlanPartsProps {
  readonly state: Preview;
  readonly plan: ImportPlan;
  readonly choices: ImportChoices;
  readonly onChoose: (choices: ImportChoices) => void;
}

/** Lists the rows that a person should check, with a checkbox where the person decides about them. */
function PlanParts({ state, plan, choices, onChoose }: PlanPartsProps) {
  return (
    <>
      <Lines
        title="Already imported under other account names"
        lines={plan.otherNames.map(describeOtherName)}
      />
      <Deleted state={state} plan={plan} />
      <Lines
        title="New, unless you have deleted them: their import stopped early, or used another account name"
        lines={plan.possiblyDeleted.map(({ line, description }) => `Line ${line}: ${description}`)}
      />
      <Lines
        title="Missing from the file: the bank may have reversed them"
        lines={plan.vanished.map(
          ({ date, description, amount }) =>
            `${format.date(date)}: ${description}, ${format.money(amount)}`,
        )}
      />
      <Duplicates
        plan={plan}
        isOn={choices.withDuplicates}
        onChange={(withDuplicates) => onChoose({ ...choices, withDuplicates })}
      />
      <Changes
        changes={plan.changes}
        isOn={choices.withChanges}
        onChange={(withChanges) => onChoose({ ...choices, withChanges })}
      />
    </>
  );
}

function countWork(plan: ImportPlan, choices: ImportChoices): number {
  return chooseRows(plan, choices).length + (choices.withChanges ? plan.changes.length : 0);
}

function describeOtherName({ name, pairs }: ImportPlan['otherNames'][number]): string {
  const accountText = name === undefined ? 'without an account name' : `as the account “${name}”`;
  return `${format.counted(pairs.size, 'row')} ${pairs.size === 1 ? 'was' : 'were'} imported ${accountText}`;
}

interface FactsProps {
  readonly reading: NonNullable<Preview['reading']>;
  /** The rows that Import would create. */
  readonly rows: readonly StatementRow[];
}

/** Shows what an import of the file would do. */
function Facts({ reading, rows }: FactsProps) {
  const { statement, plan, choices } = reading;
  const { refused, leftOut, findings } = statement;
  return (
    <>
      <Sums reading={reading} rows={rows} />
      {findings.map((finding) => (
        <p key={finding} class="hint" dir="auto">
          {nameFields(finding)}
        </p>
      ))}
      <SampleRows rows={rows} />
      <Lines
        title="Categorised like earlier rows"
        lines={choices.chosen.map(({ row, category }) => `${row.description}: ${category}`)}
      />
      <Lines
        title="Left out"
        lines={leftOut.map(({ line, reason, text }) => `Line ${line}: ${reason}. ${text}`)}
      />
      <Lines
        title="Refused"
        lines={[...refused, ...plan.refused].map(
          ({ line, message }) => `Line ${line}: ${nameFields(message)}`,
        )}
      />
    </>
  );
}

/** Shows how many rows there are, their dates and their sums. */
function Sums({ reading: { statement, plan }, rows: createdRows }: FactsProps) {
  const { rows, refused, leftOut } = statement;
  const duplicates = plan.missing.length - createdRows.length;
  const sum = (type: 'income' | 'expense') =>
    rows
      .filter((row) => row.type === type)
      .reduce((total, row) => total + Math.round(row.amount * 100), 0) / 100;
  const days = rows.map(({ date }) => date).toSorted();
  const [first, last] = [days[0], days.at(-1)];
  const uncategorisedCount = createdRows.filter(({ category }) => category === null).length;
  return (
    <p>
      <strong>{format.count(createdRows.length)} new</strong>
      {duplicates > 0 && `, ${format.counted(duplicates, 'possible duplicate')}`}
      {`, ${format.count(plan.present)} already there, ${format.count(leftOut.length)} left out, ${format.count(refused.length + plan.refused.length)} refused. `}
      {first && last && `${format.date(first)} – ${format.date(last)}, `}
      income {format.money(sum('income'))}, expense {format.money(sum('expense'))}
      {uncategorisedCount > 0 && `, ${format.count(uncategorisedCount)} without a category`}.
    </p>
  );
}

function SampleRows({ rows }: { readonly rows: readonly StatementRow[] }) {
  if (rows.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the section scrolls, and the keyboard must be able to scroll it
    <section class="scroll sample" tabIndex={0} aria-label="First new transactions">
      <table>
        {rows.length > MAX_SHOWN_ROWS && (
          <caption>
            First {format.count(MAX_SHOWN_ROWS)} of {format.count(rows.length)} rows
          </caption>
        )}
        <thead>
          <tr>
            <th scope="col">Date</th>
            <th scope="col">Description</th>
            <th scope="col">Amount</th>
            <th scope="col">Category</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_SHOWN_ROWS).map((row) => (
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

export function Lines({
  title,
  lines,
}: {
  readonly title?: string;
  readonly lines: readonly string[];
}) {
  if (lines.length === 0) return null;
  return (
    <details>
      <summary>
        {title ?? 'Refused'} ({format.count(lines.length)})
      </summary>
      <ul class="lines">
        {lines.slice(0, MAX_SHOWN_LINES).map((line, n) => (
          <li key={n} dir="auto">
            {line}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Lists rows that were deleted by hand after an earlier import. The checkbox plans the import again, with these rows. */
function Deleted({
  state,
  plan: { deleted },
}: {
  readonly state: Preview;
  readonly plan: ImportPlan;
}) {
  if (deleted.length === 0 && !state.importsDeleted) return null;
  return (
    <>
      <Lines
        title="Deleted earlier, and left out"
        lines={deleted.map(({ line, description }) => `Line ${line}: ${description}`)}
      />
      <Check
        label="Import the deleted rows again"
        isOn={state.importsDeleted}
        onChange={(importsDeleted) => preview({ ...state, importsDeleted }, { isAgain: true })}
      />
    </>
  );
}

interface DuplicatesProps {
  readonly plan: ImportPlan;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function Duplicates({ plan: { possibleDuplicates }, isOn, onChange }: DuplicatesProps) {
  if (possibleDuplicates.length === 0) return null;
  return (
    <>
      <Lines
        title="Possible duplicates"
        lines={possibleDuplicates.map(
          ({ row, transaction }) =>
            `Line ${row.line}: ${row.description}, ${format.money(row.amount)} – the ledger has ${transaction.description} on ${format.date(transaction.date)}`,
        )}
      />
      <Check
        label={`Also import the ${format.counted(possibleDuplicates.length, 'possible duplicate')}`}
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

/** Lists the transactions whose rows were edited in an exported file. */
function Changes({ changes, isOn, onChange }: ChangesProps) {
  if (changes.length === 0) return null;
  return (
    <>
      <Lines title="Edited in the file" lines={changes.map(describeChange)} />
      <Check
        label={`Change the ${format.counted(changes.length, 'transaction')} edited in the file`}
        isOn={isOn}
        onChange={onChange}
      />
    </>
  );
}

function describeChange({ row, transaction, fields }: Change): string {
  const texts = fields.map(
    (field) => `${field} ${transaction[field] ?? 'none'} → ${row[field] ?? 'none'}`,
  );
  return `Line ${row.line}: ${transaction.description}: ${texts.join(', ')}`;
}
