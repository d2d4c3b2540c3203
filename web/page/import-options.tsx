// The fields that control how a bank's file is read. When the importer cannot decide, its message names the field that answers its
// question.
import type { Statement, StatementOptions } from '../../lib/ledger/import/statement.ts';
import { Button, Check, Field } from './components.tsx';
import { forgetLayout } from './file-layouts.ts';
import { type Preview, preview } from './import-state.ts';

const COLUMNS = [
  ['date', 'Date column'],
  ['description', 'Description column'],
  ['amount', 'Amount column'],
  ['debit', 'Debit column'],
  ['credit', 'Credit column'],
  ['fee', 'Fee column'],
  ['category', 'Category column'],
  ['externalId', "Bank's id column"],
] as const;

const CHOICES = [
  {
    field: 'dateOrder',
    label: 'Order of dates',
    choices: [
      ['', 'As in most dates'],
      ['ymd', 'Year, month, day'],
      ['dmy', 'Day, month, year'],
      ['mdy', 'Month, day, year'],
    ],
  },
  {
    field: 'decimal',
    label: 'Decimal sign',
    choices: [
      ['', 'As in most amounts'],
      ['point', 'Point'],
      ['comma', 'Comma'],
    ],
  },
] as const;

const TEXTS = [
  ['account', 'Account name'],
  ['currency', 'Only this currency'],
  ['onlyAccount', 'Only this account'],
  ['encoding', 'Encoding'],
] as const;

const CHECKS = [
  ['isInverted', 'Expenses are positive'],
  ['isPreviewAccepted', 'The preview is right as it is'],
] as const;

/** Labels of these fields, by the command-line options that the importer's messages name. */
const LABELS_BY_OPTION: Readonly<Record<string, string>> = {
  ...Object.fromEntries(COLUMNS.map(([field, label]) => [field, label])),
  id: "Bank's id column",
  'date-order': 'Order of dates',
  decimal: 'Decimal sign',
  invert: 'Expenses are positive',
  'as-it-is': 'The preview is right as it is',
  currency: 'Only this currency',
  'only-account': 'Only this account',
  account: 'Account name',
  encoding: 'Encoding',
};

/** Replaces the command-line options in a sentence with the labels of the fields. */
export function nameFields(sentence: string): string {
  return sentence.replace(/--([a-z-]+)(?: [A-Z]+(?:,[A-Z]+)*)?/g, (option, name) => {
    const label = LABELS_BY_OPTION[name];
    return label ? `“${label}”` : option;
  });
}

interface OptionFieldsProps {
  readonly state: Preview;
  readonly isOpen: boolean;
}

export function OptionFields({ state, isOpen }: OptionFieldsProps) {
  const { options, reading } = state;
  const change = (changes: StatementOptions) =>
    preview({ ...state, options: { ...options, ...changes } }, { isAgain: true });
  const layout = reading?.statement.layout;
  return (
    <details open={isOpen}>
      <summary>How the file is read{layout?.recalled && ' (as last time)'}</summary>
      {reading && (
        <p class="hint" dir="auto">
          {describeReading(reading.statement)}
        </p>
      )}
      <div class="options">
        <ColumnFields state={state} onChange={change} />
        <ReadingFields options={options} onChange={change} />
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

function describeReading({ format, columns, encoding }: Statement): string {
  const columnTexts = Object.entries(columns).map(
    ([field, names]) => `${field}: ${names.join(', ')}`,
  );
  const encodings = encoding && encoding !== 'utf-8' ? [encoding] : [];
  return [format, ...encodings, ...columnTexts].join(' · ');
}

interface ReadingFieldsProps {
  readonly options: StatementOptions;
  readonly onChange: (changes: StatementOptions) => void;
}

function ReadingFields({ options, onChange }: ReadingFieldsProps) {
  return (
    <>
      {CHOICES.map(({ field, label, choices }) => (
        <Choice
          key={field}
          label={label}
          value={options[field] ?? ''}
          choices={choices}
          onChange={(value) => onChange({ [field]: value || undefined })}
        />
      ))}
      {TEXTS.map(([field, label]) => (
        <TextOption
          key={field}
          label={label}
          value={options[field]}
          onChange={(text) => onChange({ [field]: text })}
        />
      ))}
      {CHECKS.map(([field, label]) => (
        <Check
          key={field}
          label={label}
          isOn={options[field]}
          onChange={(isOn) => onChange({ [field]: isOn })}
        />
      ))}
    </>
  );
}

interface ColumnFieldsProps {
  readonly state: Preview;
  readonly onChange: (changes: StatementOptions) => void;
}

/** Each field takes the name of a column, or its number, counted from 1. */
function ColumnFields({ state: { options, reading }, onChange }: ColumnFieldsProps) {
  const { columns = {}, ignored = [] } = reading?.statement ?? {};
  const names = [...Object.values(columns).flat(), ...ignored];
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
          placeholder={columns[field]?.join(', ') ?? ''}
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
