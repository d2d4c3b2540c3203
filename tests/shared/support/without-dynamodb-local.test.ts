// Stands for the whole run where the second engine cannot run, so that it is seen and counted as skipped.
import { test } from 'vitest';

test.skip('the storage and HTTP tests on DynamoDB Local', () => {});
