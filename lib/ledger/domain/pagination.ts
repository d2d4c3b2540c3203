// Page numbers over an exact total.

export interface Pagination {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
  /** 0 when there is nothing to list. */
  readonly pages: number;
  readonly hasNext: boolean;
  readonly hasPrev: boolean;
}

export function paginate(page: number, perPage: number, total: number): Pagination {
  const pages = Math.ceil(total / perPage);
  return {
    page,
    perPage,
    total,
    pages,
    hasNext: page < pages,
    hasPrev: page > 1,
  };
}

/** How many items come before the page. */
export function offsetOf(page: number, perPage: number): number {
  return (page - 1) * perPage;
}
