/** Time limits that only end a test that hangs: no test may depend on how busy the machine is. */
export const TIME_LIMITS = {
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 600_000 } },
};
