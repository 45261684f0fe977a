import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import type { Holder } from '../store/consumer-store.js';

/** Who acts on a job: whoever has the token that came with it, or the owner it is assigned to. */
export type JobHolder = { readonly token: string } | { readonly owner: string };

const EXPECTED = `either { token: '…' } of the claim or { owner: '…' }`;

/** A name of a person, a team or a program, or of a stage: a text that no database takes for another one. */
export function nameOf(what: string, value: unknown, longest: number): string | undefined {
  const isText = typeof value === 'string' && value.trim() === value;
  // Half of a surrogate pair is no character: a database keeps something else in its place.
  const isName = isText && value.length >= 1 && value.length <= longest && !/\p{Surrogate}/u.test(value);
  return expected(isName, `${what} to be a text of 1 to ${longest} characters without spaces at its ends`, value);
}

export function ownerProblem(owner: unknown): string | undefined {
  return nameOf('owner', owner, 255);
}

/** `also`: keys that stand beside. */
export function holderProblems(given: unknown, also: readonly string[] = []): (string | undefined)[] {
  if (!isOptions(given)) return [expected(false, EXPECTED, given)];
  const { token, owner } = given as { token?: unknown; owner?: unknown };
  return [
    ...unknownKeys(given, ['token', 'owner', ...also]),
    (token === undefined) === (owner === undefined) ? expected(false, EXPECTED, { token, owner }) : undefined,
    token === undefined
      ? undefined
      : expected(tokenNumber(token) !== undefined, 'token as it came with the job', token),
    owner === undefined ? undefined : ownerProblem(owner),
  ];
}

/** Of one that has been checked. */
export function holderOf(given: JobHolder): Holder {
  return 'token' in given && given.token !== undefined
    ? { token: tokenNumber(given.token)! }
    : { owner: (given as { owner: string }).owner };
}

function tokenNumber(token: unknown): number | undefined {
  if (typeof token !== 'string' || !/^[1-9]\d{0,15}$/.test(token)) return undefined;
  const number = Number(token);
  return Number.isSafeInteger(number) ? number : undefined;
}
