import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import { kind, problemOf, type Kind } from '../job/option-schema.js';
import type { ExpectedHolder } from '../store/features/people/consumer-store.js';

/** The holder of a job: the bearer of the `token` that came with it, or the `owner` that it is assigned to. */
export type ClaimHolder = { readonly token: string } | { readonly owner: string };

const HOLDER_EXPECTED = `either { token: '…' } of the claim or { owner: '…' }`;

export const OWNER = label(255);
export const STAGE = label(100);

/** The name of an owner or a stage. No database takes a valid name for another one. */
function label(maxLength: number): Kind<string> {
  return kind(`a text of 1 to ${maxLength} characters without spaces at its ends`, (value): value is string => {
    const isText = typeof value === 'string' && value.trim() === value;
    // A database stores a replacement character for half of a surrogate pair.
    return isText && value.length >= 1 && value.length <= maxLength && !/\p{Surrogate}/u.test(value);
  });
}

export function ownerProblem(owner: unknown): string | undefined {
  return problemOf('owner', OWNER, owner);
}

export function stageProblem(stage: unknown): string | undefined {
  return problemOf('stage', STAGE, stage);
}

/** @param otherKeys the keys of the call that are allowed beside the holder */
export function holderProblems(given: unknown, otherKeys: readonly string[] = []): (string | undefined)[] {
  if (!isOptions(given)) return [expected(false, HOLDER_EXPECTED, given)];
  const { token, owner } = given as { token?: unknown; owner?: unknown };
  return [
    ...unknownKeys(given, ['token', 'owner', ...otherKeys]),
    (token === undefined) === (owner === undefined) ? expected(false, HOLDER_EXPECTED, { token, owner }) : undefined,
    token === undefined
      ? undefined
      : expected(tokenNumber(token) !== undefined, 'token as it came with the job', token),
    owner === undefined ? undefined : ownerProblem(owner),
  ];
}

/** The holder in `given`, which must have no `holderProblems`. */
export function holderOf(given: ClaimHolder): ExpectedHolder {
  return 'token' in given && given.token !== undefined
    ? { token: tokenNumber(given.token)! }
    : { owner: (given as { owner: string }).owner };
}

function tokenNumber(token: unknown): number | undefined {
  if (typeof token !== 'string' || !/^[1-9]\d{0,15}$/.test(token)) return undefined;
  const number = Number(token);
  return Number.isSafeInteger(number) ? number : undefined;
}
