// Counts the run on DynamoDB Local as skipped if that engine cannot run on this machine.
import { test } from 'vitest';

test.skip('the storage and HTTP tests on DynamoDB Local', () => {});
