// Every endpoint of the API by its route, in the order of the API description.
import { CATEGORY_ENDPOINTS } from './categories.ts';
import type { Endpoint } from './endpoint-declaration.ts';
import { IMPORT_ENDPOINTS } from './imports.ts';
import { SERVICE_ENDPOINTS } from './service.ts';
import { SUMMARY_ENDPOINTS } from './summaries.ts';
import { TRANSACTION_ENDPOINTS } from './transactions.ts';

export const ENDPOINTS_BY_ROUTE: Readonly<Record<string, Endpoint>> = {
  ...TRANSACTION_ENDPOINTS,
  ...CATEGORY_ENDPOINTS,
  ...SUMMARY_ENDPOINTS,
  ...IMPORT_ENDPOINTS,
  ...SERVICE_ENDPOINTS,
};
