// Counts the tests of the deployed service as skipped if there is no Python to run the emulator.
import { test } from 'vitest';

test.skip('the deployed service', () => {});
