/** Runs the scenario failing its first statement, then its second … until a run meets no fault; answers how many there were. */
export async function everyFault(scenario: (failAt: number) => Promise<{ statements: number }>): Promise<number> {
  for (let failAt = 1; ; failAt++) {
    const { statements } = await scenario(failAt);
    if (statements < failAt) return failAt - 1;
  }
}
