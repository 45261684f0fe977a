import type { ClaimStrategy } from '../../job/claim-strategy.js';
import { InvalidOptionsError } from '../../job/errors.js';
import type { ClaimStrategies, UnsupportedStrategies } from './claim/claim-strategies.js';
import type { ChosenStrategies, ChosenStrategy } from './job-store.js';

/**
 * `auto` is the first supported strategy of the dialect. Throws InvalidOptionsError if a requested one is unsupported.
 *
 * @param unsupported the strategies that this server does not support although its kind of database does
 */
export function chooseStrategies(
  { claimStrategies, unsupportedStrategies }: ClaimStrategies,
  requested: ReadonlyMap<string, ClaimStrategy | 'auto'>,
  unsupported: UnsupportedStrategies,
): ChosenStrategies {
  const known = Object.keys(claimStrategies) as ClaimStrategy[];
  const usable = known.filter((strategy) => !unsupported[strategy]);
  const problems: string[] = [];
  const strategies = new Map<string, ChosenStrategy>();
  for (const [queue, request] of requested) {
    const name = request === 'auto' ? usable[0]! : request;
    if (usable.includes(name)) {
      strategies.set(queue, { name, mayShareTransaction: claimStrategies[name]!.mayShareTransaction });
      continue;
    }
    const others = ['auto', ...usable].map((one) => `'${one}'`).join(' | ');
    const reason = unsupported[name] ?? unsupportedStrategies[name];
    problems.push(`queue "${queue}": expected claim to be ${others} on this database, got '${name}': ${reason}`);
  }
  InvalidOptionsError.throwIfAny('Invalid claim strategies', problems);
  const fallbacks = [...strategies].filter(([queue, { name }]) => requested.get(queue) === 'auto' && name !== known[0]);
  if (fallbacks.length === 0) return { byQueue: strategies };
  const queues = fallbacks.map(([queue]) => `"${queue}"`).join(', ');
  const notice = `Jobs of ${queues} are claimed by '${usable[0]}', not '${known[0]}': ${unsupported[known[0]!]}.`;
  return { byQueue: strategies, notice };
}
