// Explains the outcome of concurrent commands by an order in which they could have run one by one.
import type { ApiResponse } from '../api/api-client.ts';
import type { Listing } from './ledger-listing.ts';
import type { Command } from './ledger-model.ts';
import { applyCommand, listRefusals, type Model, type Refusal } from './ledger-model.ts';

export interface Outcome {
  readonly command: Command;
  readonly response: ApiResponse;
}

/**
 * @param listing the contents of the ledger after all commands
 * @returns the model after all commands
 * @throws Error if no order explains every response and the contents of the ledger
 */
export function linearise(model: Model, outcomes: readonly Outcome[], listing: Listing): Model {
  const applied = outcomes.filter(({ response }) => response.status < 300);
  const refused = outcomes.filter(({ response }) => response.status >= 300);

  function search(path: readonly Model[], remaining: readonly Outcome[]): Model | undefined {
    const current = path.at(-1) ?? model;
    if (remaining.length === 0) {
      return listing.matches(current) && refused.every((each) => isExplained(each, path))
        ? current
        : undefined;
    }
    for (const outcome of remaining) {
      const next = applyOutcome(current, outcome);
      const end =
        next &&
        search(
          [...path, next],
          remaining.filter((each) => each !== outcome),
        );
      if (end) return end;
    }
    return undefined;
  }

  const end = search([model], applied);
  if (end) return end;
  const exchanges = outcomes.map(
    ({ command, response }) => `${JSON.stringify(command)} -> ${response.text}`,
  );
  throw new Error(`No order explains the ledger ${listing.text} after:\n${exchanges.join('\n')}`);
}

/** @returns the model after a command; undefined if the model does not expect its response */
export function applyOutcome(model: Model, { command, response }: Outcome): Model | undefined {
  if (listRefusals(model, command).length > 0) return undefined;
  const next = applyCommand(model, command, response.body.data ?? {});
  if (command.kind.startsWith('delete')) return next;
  const { id } = response.body.data;
  const expected = command.kind.endsWith('category')
    ? next.categories.get(id)
    : next.transactions.get(id);
  return expected && hasFields(response.body.data, expected) ? next : undefined;
}

export function toRefusal({ status, body }: ApiResponse): Refusal {
  return `${status} ${body.error}` as Refusal;
}

// A refusal changes nothing, and is right if its reason held at some moment. The service makes its checks at different moments,
// so the earlier checks need not pass at the moment of the refusal.
function isExplained({ command, response }: Outcome, path: readonly Model[]): boolean {
  return path.some((model) => listRefusals(model, command).includes(toRefusal(response)));
}

function hasFields(data: Readonly<Record<string, unknown>>, expected: object): boolean {
  return Object.entries(expected).every(([name, value]) => data[name] === value);
}
