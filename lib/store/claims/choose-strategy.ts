import { InvalidOptionsError } from '../../job/errors.js';
import type { ClaimStrategy } from '../../job/claim-strategy.js';
import type { ChosenStrategies, ChosenStrategy } from '../job-store.js';
import type { Dialect } from '../sql/dialect.js';

/** What of a strategy does not work here. */
export type Unfit = Readonly<Partial<Record<ClaimStrategy, string>>>;

/**
 * How each queue is to be claimed here. `auto` takes the first of the dialect's that can be had.
 *
 * @param unfit what has been found out about this very server, besides what its kind refuses
 */
export function chooseStrategies(
  { claims, refusals }: Pick<Dialect, 'claims' | 'refusals'>,
  wishes: ReadonlyMap<string, ClaimStrategy | 'auto'>,
  unfit: Unfit,
): ChosenStrategies {
  const known = Object.keys(claims) as ClaimStrategy[];
  const usable = known.filter((strategy) => !unfit[strategy]);
  const problems: string[] = [];
  const strategies = new Map<string, ChosenStrategy>();
  for (const [queue, wish] of wishes) {
    const name = wish === 'auto' ? usable[0]! : wish;
    if (usable.includes(name)) {
      strategies.set(queue, { name, mayShare: claims[name]!.mayShare });
      continue;
    }
    const others = ['auto', ...usable].map((one) => `'${one}'`).join(' | ');
    const reason = unfit[name] ?? refusals[name];
    problems.push(`queue "${queue}": expected claim to be ${others} on this database, got '${name}': ${reason}`);
  }
  InvalidOptionsError.throwIfAny('Invalid claim strategies', problems);
  const fallen = [...strategies].filter(([queue, { name }]) => wishes.get(queue) === 'auto' && name !== known[0]);
  if (fallen.length === 0) return { of: strategies };
  const queues = fallen.map(([queue]) => `"${queue}"`).join(', ');
  const notice = `Jobs of ${queues} are claimed by '${usable[0]}', not '${known[0]}': ${unfit[known[0]!]}.`;
  return { of: strategies, notice };
}
