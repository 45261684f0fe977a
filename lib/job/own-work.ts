/** The work of this process, which its own rescues leave alone. */
export interface OwnWork {
  /** Whether this process has the claim, so that it renews the lease itself. */
  isHeld(claimId: number): boolean;
  /** Whether a handler of this process still runs the job under this claim. The claim may be lost. */
  isRunning(claimId: number, jobId: number): boolean;
}
