// The endpoints of categories, as clients see them.
import { CATEGORY_LIMIT } from '../../domain/category.ts';
import { categoryChangesBody, categoryQuery, newCategoryBody } from '../category-json.ts';
import { type Endpoint, MAX_KB } from './endpoint-declaration.ts';
import {
  COUNT,
  DELETED,
  list,
  nameSchema,
  STRING,
  schemaRef,
  succeeded,
} from './response-schemas.ts';

const CATEGORY_WRITTEN = nameSchema(
  'CategoryWritten',
  succeeded({ data: schemaRef('Category'), message: STRING }),
);

export const CATEGORY_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /categories': {
    id: 'listCategories',
    summary: 'List categories',
    description: `Sorted by name. A parameter is true if it is \`true\`, ignoring case, and false otherwise. A request whose
      \`If-None-Match\` has the current \`ETag\` is answered with 304.`,
    query: categoryQuery,
    response: nameSchema(
      'CategoryList',
      succeeded({ data: list(schemaRef('Category')), count: COUNT }),
    ),
    failureMessage: 'Failed to retrieve categories',
    maxKb: CATEGORY_LIMIT * MAX_KB.category,
    isTagged: true,
  },
  'POST /categories': {
    id: 'createCategory',
    summary: 'Create a category',
    description: 'The name must be unique, also among inactive categories.',
    body: { name: 'CategoryInput', schema: newCategoryBody },
    example: { name: 'Food', color: '#2A9D8F' },
    response: CATEGORY_WRITTEN,
    failureMessage: 'Failed to create category',
    maxKb: MAX_KB.category,
    status: 201,
    failureDescriptions: {
      409: `Another category has the name: \`existing_id\` is its id, and the message says if it is inactive. Or the ledger has
        its maximum of ${CATEGORY_LIMIT} categories.`,
    },
    isIdempotent: true,
    isVersioned: true,
  },
  'GET /categories/{id}': {
    id: 'readCategory',
    summary: 'Read a category',
    description: 'Includes the number of its transactions.',
    response: nameSchema('CategoryRead', succeeded({ data: schemaRef('Category') })),
    failureMessage: 'Failed to retrieve category',
    maxKb: MAX_KB.category,
    isVersioned: true,
  },
  'PUT /categories/{id}': {
    id: 'updateCategory',
    summary: 'Update a category',
    description: 'Changes only the fields that are sent.',
    body: { name: 'CategoryUpdate', schema: categoryChangesBody },
    example: { color: '#264653' },
    response: CATEGORY_WRITTEN,
    failureMessage: 'Failed to update category',
    maxKb: MAX_KB.category,
    failureDescriptions: { 409: 'Another category has the name: `existing_id` is its id.' },
    isVersioned: true,
  },
  'DELETE /categories/{id}': {
    id: 'deleteCategory',
    summary: 'Deactivate a category',
    description: 'The category is kept, but is inactive.',
    response: DELETED,
    failureMessage: 'Failed to delete category',
    failureDescriptions: { 409: 'The category has transactions.' },
    isVersioned: true,
  },
};
