/**
 * Runs the scenario with a failing first statement, then with a failing second one, until a run meets no fault. Returns
 * the number of faults.
 */
export async function everyFault(scenario: (failAt: number) => Promise<{ statements: number }>): Promise<number> {
  for (let failAt = 1; ; failAt++) {
    const { statements } = await scenario(failAt);
    if (statements < failAt) return failAt - 1;
  }
}
