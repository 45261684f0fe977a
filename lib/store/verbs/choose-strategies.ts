import type { ClaimStrategy } from '../../job/claim-strategy.js';
import { InvalidOptionsError } from '../../job/errors.js';
import type { ClaimStrategies, UnsupportedStrategies } from '../rows/claim.js';
import type { ChosenStrategies, ChosenStrategy } from './job-store.js';

/**
 * `auto` is the first strategy that the server supports. Throws InvalidOptionsError if a requested one is unsupported.
 *
 * @param refused the strategies that this server does not support although its kind of database does
 */
export function chooseStrategies(
  { supported, unsupported }: ClaimStrategies,
  requested: ReadonlyMap<string, ClaimStrategy | 'auto'>,
  refused: UnsupportedStrategies,
): ChosenStrategies {
  const known = Object.keys(supported) as ClaimStrategy[];
  const usable = known.filter((strategy) => !refused[strategy]);
  const problems: string[] = [];
  const strategies = new Map<string, ChosenStrategy>();
  for (const [queue, request] of requested) {
    const name = request === 'auto' ? usable[0]! : request;
    if (usable.includes(name)) {
      strategies.set(queue, { name, mayShareTransaction: supported[name]!.mayShareTransaction });
      continue;
    }
    const others = ['auto', ...usable].map((one) => `'${one}'`).join(' | ');
    const reason = refused[name] ?? unsupported[name];
    problems.push(`queue "${queue}": expected claim to be ${others} on this database, got '${name}': ${reason}`);
  }
  InvalidOptionsError.throwIfAny('Invalid claim strategies', problems);
  const fallbacks = [...strategies].filter(([queue, { name }]) => requested.get(queue) === 'auto' && name !== known[0]);
  if (fallbacks.length === 0) return { byQueue: strategies };
  const queues = fallbacks.map(([queue]) => `"${queue}"`).join(', ');
  const notice = `Jobs of ${queues} are claimed by '${usable[0]}', not '${known[0]}': ${refused[known[0]!]}.`;
  return { byQueue: strategies, notice };
}
