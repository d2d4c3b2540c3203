// Stands for the tests of the deployed service where there is no Python to run the emulator.
import { test } from 'vitest';

test.skip('the deployed service', () => {});
