// The transactions of a ledger, as its export has them.
import { StartError } from '../../local/processes/start-error.ts';
import type { ServiceClient } from '../service-client.ts';
import { readStatement, type StatementRow } from './statement.ts';

/**
 * All of them: a transaction that was moved to another date is still the one that a file has.
 * @throws StartError where one cannot be read: it would be created a second time
 */
export async function readLedger(service: ServiceClient): Promise<readonly StatementRow[]> {
  let file = '';
  let next: string | undefined = '';
  while (next !== undefined) {
    const { text, link } = await service.request('GET', `/transactions/export${next}`);
    file += text;
    next = /^<(.*)>; rel="next"$/.exec(link ?? '')?.[1];
  }
  const { rows, errors } = readStatement(file);
  const [error] = errors;
  if (error)
    throw new StartError(`Line ${error.line} of the export cannot be read: ${error.message}`);
  return rows;
}
