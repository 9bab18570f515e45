/**
 * Tests that are known to fail now and then, as .ci/tests.ts names them: `test/fault/crowd.test.ts > the name of the test`.
 * Each is a defect, of the test or of the product, and the list is empty unless one is being looked for.
 *
 * An entry comes when CI reports a flaky test whose cause is not found at once, with a comment: what is known, and its seed.
 * CI lets a listed test fail once, and `npm run nightly -- flaky` runs it 50 times.
 * An entry goes with the fix of the cause. A night in which all 50 runs pass does not show that it is gone.
 */
export const flaky: readonly string[] = [];
