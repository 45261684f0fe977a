/**
 * The base of all errors that an application can catch. Each class has a stable `code`. Compare the code instead of the
 * class if the application may load both builds of the package (ESM and CommonJS).
 */
export abstract class SqlQueueError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Also recognizes errors of another copy of the package, and stored errors. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && (error as { code?: unknown }).code === code;
}
