// DELETE /categories/{id}
import { endpoint } from '../../lib/http/endpoint.ts';
import { deleted } from '../../lib/http/replies.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

const { categories } = ledgerFromEnvironment();

export const handler = endpoint('Failed to delete category').handler(async ({ pathId }) => {
  await categories.deactivate(pathId);
  return deleted('Category deleted successfully');
});
