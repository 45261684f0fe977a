/** The user has called the command wrongly. The process ends with the exit code 2. */
export class UsageError extends Error {}

/** The command has not done what it should. The process ends with the exit code 1. */
export class CommandFailedError extends Error {}
