// The parameters of GET /health.
import * as v from 'valibot';

export const healthQuery = v.object({
  deep: v.exactOptional(
    v.pipe(v.string(), v.description('With any value, the check also reads the table.')),
  ),
});
