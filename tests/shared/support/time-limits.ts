/** Time limits that only end a test that hangs: no test may depend on how busy the machine is. */
export const TIME_LIMITS = {
  testTimeout: 1_800_000,
  hookTimeout: 1_800_000,
  expect: { poll: { timeout: 1_800_000 } },
};
