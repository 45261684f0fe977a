/** The data of a person who signs up. */
export interface Signup {
  readonly email: string;
  readonly name: string;
}

export class InvalidSignupError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join(', and '));
  }
}

// A simple check for undeliverable addresses: one @, a domain with a dot, no unusual characters.
const ADDRESS = /^[\w.%+-]{1,64}@[a-z\d-]+(\.[a-z\d-]+)+$/i;
const CONTROL_CHARACTERS = /\p{Cc}/u;

/** Checks and normalizes a sign-up from HTTP or from a file. Throws an error with all problems. */
export function parseSignup(input: unknown): Signup {
  const { email, name } = (input ?? {}) as Partial<Record<keyof Signup, unknown>>;
  if (email === undefined && name === undefined) {
    throw new InvalidSignupError([
      `expected { "email": "…", "name": "…" } with content-type: application/json, got ${quoted(input)}`,
    ]);
  }
  const problems: string[] = [];
  if (typeof email !== 'string' || email.length > 254 || !ADDRESS.test(email.trim())) {
    problems.push(`expected email to be an address like ada@example.com, got ${quoted(email)}`);
  }
  if (typeof name !== 'string' || !name.trim() || name.length > 100 || CONTROL_CHARACTERS.test(name)) {
    problems.push(`expected name to have 1 to 100 characters, got ${quoted(name)}`);
  }
  if (problems.length > 0) throw new InvalidSignupError(problems);
  return { email: String(email).trim().toLowerCase(), name: String(name).trim() };
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
