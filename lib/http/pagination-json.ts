// Page numbers as clients see them.
import type { Pagination } from '../domain/pagination.ts';

export function toPaginationJson(pagination: Pagination) {
  return {
    page: pagination.page,
    per_page: pagination.perPage,
    total: pagination.total,
    pages: pagination.pages,
    has_next: pagination.hasNext,
    has_prev: pagination.hasPrev,
  };
}
