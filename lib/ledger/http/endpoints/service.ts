// The endpoints of the service itself, as clients see them.
import { SCOPES } from '../../domain/api-key.ts';
import { healthQuery } from '../health-query.ts';
import type { Endpoint } from './endpoint-declaration.ts';
import { nameForm, object, oneOf, succeeded, TEXT } from './response-forms.ts';

const CALLER_DATA = nameForm(
  'CallerData',
  object(
    {
      ledger: TEXT,
      scope: oneOf(SCOPES),
      kind: oneOf(['key', 'token', 'anonymous']),
    },
    { key_id: TEXT, name: { ...TEXT, description: 'The name of the key.' } },
  ),
);

export const SERVICE_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /me': {
    id: 'identifyCaller',
    summary: 'Say who sends the request',
    description:
      'Returns the ledger and scope of the key or token, and the id and name of the key.',
    response: nameForm('Caller', succeeded({ data: CALLER_DATA })),
    failure: 'Failed to identify the caller',
  },
  'GET /health': {
    id: 'checkHealth',
    summary: 'Check that the service runs',
    description: 'With `deep`, the check also reads the table.',
    query: healthQuery,
    response: nameForm(
      'Health',
      succeeded({ data: nameForm('HealthData', object({ status: TEXT }, { table: TEXT })) }),
    ),
    failure: 'The database does not answer',
    failures: { 500: 'The database does not answer.' },
    isPublic: true,
  },
  'GET /openapi.json': {
    id: 'describeApi',
    summary: 'Describe the API',
    description: 'This document.',
    response: nameForm('Description', {
      type: 'object',
      description: 'This document.',
      additionalProperties: true,
    }),
    failure: 'Failed to describe the API',
    maxKb: 150,
    isTagged: true,
    isPublic: true,
  },
};
