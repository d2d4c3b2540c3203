// Draws the categories of the scope as bars, the largest first.
import { signal } from '@preact/signals';
import { categoriesById } from './category-list.ts';
import { ScopeLink } from './components.tsx';
import { addUpCategories } from './figures.ts';
import { format } from './format.ts';
import { cells, scope, view } from './ledger.ts';
import { categoryColor } from './scheme.ts';
import { type CategoryKey, isMonth } from './scope.ts';
import { targets } from './targets.ts';

const MAX_CATEGORIES = 5;

const isUnfolded = signal(false);

/**
 * A click on a bar shows only the rows of its category, and a second click shows all again. The bar of a category with a target
 * shows how much of the target is spent.
 */
export function CategoryChart() {
  const currentView = view.value;
  const side = currentView?.scope.type ?? 'expense';
  const bars = addUpCategories(cells.value, side);
  const shownBars = isUnfolded.value ? bars : bars.slice(0, MAX_CATEGORIES);
  const largestAmount = Math.max(...bars.map(({ amount }) => amount), 0.01);
  const hasTargets = side === 'expense' && isMonth(currentView?.scope.period ?? '');
  return (
    <section class="card" aria-label="By category">
      <div class="title">
        <h3>{side === 'income' ? 'Income by category' : 'Expense by category'}</h3>
        {bars.length > MAX_CATEGORIES && (
          <button
            type="button"
            class="button quiet"
            onClick={() => {
              isUnfolded.value = !isUnfolded.value;
            }}
          >
            {isUnfolded.value ? 'Largest' : `All ${format.count(bars.length)}`}
          </button>
        )}
      </div>
      {currentView && bars.length === 0 && (
        <p class="no-figures">
          {currentView.scope.q ? `No ${side} matches.` : `No ${side} in this period yet.`}
        </p>
      )}
      <ol class="category-bars">
        {shownBars.map(({ key, amount, share }) => (
          <CategoryBarRow
            key={key}
            category={key}
            amount={amount}
            share={share}
            largestAmount={largestAmount}
            target={hasTargets ? targets.value[key] : undefined}
          />
        ))}
      </ol>
    </section>
  );
}

interface CategoryBarRowProps {
  readonly category: CategoryKey;
  readonly amount: number;
  readonly share: number | undefined;
  readonly largestAmount: number;
  readonly target: number | undefined;
}

function CategoryBarRow({ category, amount, share, largestAmount, target }: CategoryBarRowProps) {
  const isCurrent = scope.value.category === category;
  const knownCategory = category === 'none' ? undefined : categoriesById.value.get(category);
  const filledShare = target ? Math.min(1, amount / target) : amount / largestAmount;
  const note = target
    ? `of ${format.money(target)}`
    : share === undefined
      ? ''
      : format.percent(share);
  return (
    <li>
      <ScopeLink
        class={`bar ${target && amount > target ? 'over' : ''}`}
        to={{ category: isCurrent ? undefined : category }}
        isCurrent={isCurrent}
      >
        <span class="name" dir="auto">
          {knownCategory?.name ?? 'No category'}
        </span>
        <span class="amount">{format.money(amount)}</span>
        <span class="share">{note}</span>
        <span class="track">
          <span
            class="filled"
            style={{
              width: `${Math.max(0.5, Math.max(0, filledShare) * 100)}%`,
              ...(knownCategory && { background: categoryColor(knownCategory) }),
            }}
          />
        </span>
      </ScopeLink>
    </li>
  );
}
