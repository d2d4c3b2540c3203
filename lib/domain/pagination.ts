// Page numbers over an exact total.

/** As clients see it. */
export interface Pagination {
  readonly page: number;
  readonly per_page: number;
  readonly total: number;
  /** 0 when there is nothing to list. */
  readonly pages: number;
  readonly has_next: boolean;
  readonly has_prev: boolean;
}

export function paginate(page: number, perPage: number, total: number): Pagination {
  const pages = Math.ceil(total / perPage);
  return {
    page,
    per_page: perPage,
    total,
    pages,
    has_next: page < pages,
    has_prev: page > 1,
  };
}

/** How many items come before the page. */
export function offsetOf(page: number, perPage: number): number {
  return (page - 1) * perPage;
}
