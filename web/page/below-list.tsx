// The area below the rows: links to the other pages of the list, or the reason why there are no rows.
import { ScopeLink } from './components.tsx';
import { addUp, pagesAround } from './figures.ts';
import { format } from './format.ts';
import { canWrite, cells, rows, scope, totals, view } from './ledger.ts';
import { isFiltered, UNFILTERED } from './scope.ts';

export function Pages() {
  const currentView = view.value;
  if (!currentView || currentView.pages <= 1) return null;
  const { page, pages } = currentView;
  const createPageLink = (to: number, text: string, label: string) =>
    to < 1 || to > pages ? (
      <span key={label} aria-hidden="true">
        {text}
      </span>
    ) : (
      <ScopeLink key={label} to={{ page: to }} aria-label={label}>
        {text}
      </ScopeLink>
    );
  return (
    <nav class="pages" aria-label="Pages">
      {createPageLink(Math.min(page - 1, pages), '‹', 'Previous page')}
      {pagesAround(page, pages).map((each, n) =>
        each === undefined ? (
          <span key={`gap ${n}`} aria-hidden="true">
            …
          </span>
        ) : (
          <ScopeLink
            key={each}
            to={{ page: each }}
            aria-label={`Page ${format.count(each)}`}
            aria-current={each === page ? 'page' : undefined}
          >
            {format.count(each)}
          </ScopeLink>
        ),
      )}
      {createPageLink(page + 1, '›', 'Next page')}
    </nav>
  );
}

function NoMatch() {
  const { q, category, period } = scope.value;
  const isEveryRowCategorised =
    category === 'none' && totals.value.count === 0 && addUp(cells.value).count > 0;
  if (isEveryRowCategorised)
    return (
      <div class="nothing">
        <p>Everything has a category.</p>
        <p>
          <ScopeLink to={{ category: undefined }}>Show all</ScopeLink>
        </p>
      </div>
    );
  return (
    <div class="nothing">
      <p>No transactions match.</p>
      {q !== '' && period !== 'all' && (
        <p>
          <ScopeLink to={{ period: 'all' }}>Search all dates</ScopeLink>
        </p>
      )}
      <p>
        <ScopeLink to={UNFILTERED}>Clear the filter</ScopeLink>
      </p>
    </div>
  );
}

/** Says why there are no rows, and suggests what to do. */
export function EmptyList() {
  const currentView = view.value;
  if (!currentView || rows.value.length > 0) return null;
  if (currentView.total > 0 && currentView.page > currentView.pages)
    return <p class="nothing">There is no such page.</p>;
  if (isFiltered(scope.value)) return <NoMatch />;
  const { period } = scope.value;
  return (
    <div class="nothing">
      <p>
        {period === 'all' ? 'This ledger is empty.' : `No transactions in ${format.scope(period)}.`}
      </p>
      {canWrite.value && (
        <p>Add the first above, or drop a file from your bank anywhere on this page.</p>
      )}
      {period !== 'all' && (
        <p>
          <ScopeLink to={{ period: 'all' }}>Show all dates</ScopeLink>
        </p>
      )}
    </div>
  );
}
