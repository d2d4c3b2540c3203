// The endpoints of categories, as clients see them.
import { CATEGORY_LIMIT } from '../../domain/category.ts';
import { categoryChangesBody, categoryQuery, newCategoryBody } from '../category-json.ts';
import { type Endpoint, MAX_KB } from './endpoint-declaration.ts';
import { COUNT, DELETED, list, named, schema, succeeded, TEXT } from './response-forms.ts';

const CATEGORY_WRITTEN = named(
  'CategoryWritten',
  succeeded({ data: schema('Category'), message: TEXT }),
);

export const CATEGORY_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /categories': {
    id: 'listCategories',
    summary: 'List categories',
    description: `By name. A parameter is true when it is \`true\` in any case, and false otherwise. An \`ETag\` that is sent back
      as \`If-None-Match\` is answered with 304.`,
    query: categoryQuery,
    response: named('CategoryList', succeeded({ data: list(schema('Category')), count: COUNT })),
    failure: 'Failed to retrieve categories',
    maxKb: CATEGORY_LIMIT * MAX_KB.category,
    isTagged: true,
  },
  'POST /categories': {
    id: 'createCategory',
    summary: 'Create a category',
    description: 'Its name is unique, among inactive categories too.',
    body: { name: 'CategoryInput', schema: newCategoryBody },
    example: { name: 'Food', color: '#2A9D8F' },
    response: CATEGORY_WRITTEN,
    failure: 'Failed to create category',
    maxKb: MAX_KB.category,
    status: 201,
    failures: {
      409: `The name is taken: \`existing_id\` names the category, and the message says where it is inactive. Or the ledger has
        ${CATEGORY_LIMIT} categories.`,
    },
    isIdempotent: true,
    isVersioned: true,
  },
  'GET /categories/{id}': {
    id: 'readCategory',
    summary: 'Read a category',
    description: 'With the number of its transactions.',
    response: named('CategoryRead', succeeded({ data: schema('Category') })),
    failure: 'Failed to retrieve category',
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
    failure: 'Failed to update category',
    maxKb: MAX_KB.category,
    failures: { 409: 'The name is taken: `existing_id` names the category.' },
    isVersioned: true,
  },
  'DELETE /categories/{id}': {
    id: 'deleteCategory',
    summary: 'Deactivate a category',
    description: 'The category stays, inactive.',
    response: DELETED,
    failure: 'Failed to delete category',
    failures: { 409: 'The category has transactions.' },
    isVersioned: true,
  },
};
