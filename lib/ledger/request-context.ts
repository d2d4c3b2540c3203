// Context of a request for the code below the HTTP layer: its time limit, id and ledger.
import type { RequestLimits } from '../shared/database.ts';

export interface RequestContext extends RequestLimits {
  /** Id of the request, which is in the response and in each log line of the request. */
  readonly requestId: string;
  /** Id of the ledger whose records are read and written; part of every key. */
  readonly ledger: string;
}
