// npm passes signals on, but one that is killed outright cannot: what it has started sees that it is gone.
const ORPHAN_CHECK_MILLISECONDS = 500;

/** Does nothing where npm has not started this process. */
export function whenNpmIsGone(leave: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  setInterval(() => process.ppid !== npm && leave(), ORPHAN_CHECK_MILLISECONDS).unref();
}
