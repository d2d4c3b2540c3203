// The endpoints of the service itself, as clients see them.
import { SCOPES } from '../../domain/api-key.ts';
import { healthQuery } from '../health-query.ts';
import type { Endpoint } from './endpoint-declaration.ts';
import { nameSchema, object, oneOf, STRING, succeeded } from './response-schemas.ts';

const CALLER_DATA = nameSchema(
  'CallerData',
  object(
    {
      ledger: STRING,
      scope: oneOf(SCOPES),
      kind: oneOf(['key', 'token', 'anonymous']),
    },
    { key_id: STRING, name: { ...STRING, description: 'The name of the key.' } },
  ),
);

export const SERVICE_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /me': {
    id: 'identifyCaller',
    summary: 'Identify the caller',
    description:
      'Returns the ledger and scope of the key or token, and the id and name of the key.',
    response: nameSchema('Caller', succeeded({ data: CALLER_DATA })),
    failureMessage: 'Failed to identify the caller',
  },
  'GET /health': {
    id: 'checkHealth',
    summary: 'Check that the service runs',
    description: 'With `deep`, the check also reads the table.',
    query: healthQuery,
    response: nameSchema(
      'Health',
      succeeded({ data: nameSchema('HealthData', object({ status: STRING }, { table: STRING })) }),
    ),
    failureMessage: 'The database does not answer',
    failureDescriptions: { 500: 'The database does not answer.' },
    isPublic: true,
  },
  'GET /openapi.json': {
    id: 'describeApi',
    summary: 'Describe the API',
    description: 'This document.',
    response: nameSchema('Description', {
      type: 'object',
      description: 'This document.',
      additionalProperties: true,
    }),
    failureMessage: 'Failed to describe the API',
    maxKb: 150,
    isTagged: true,
    isPublic: true,
  },
};
