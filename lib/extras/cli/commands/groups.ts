import type { GroupRecord } from '../../../store/features/groups/group-store.js';
import type { Command } from '../command.js';
import { requireExisting } from '../existing-queue.js';
import { table, time, type Cell } from '../output.js';

/** `QueueAdmin.groups` counts active and waiting jobs together up to this number. */
const MAX_COUNTED = 1_000;

export const groups: Command = {
  usage: '<queue> [--limit N] [--after GROUP]',
  args: [1, 1],
  async run({ engine, args: [queue], options, output }) {
    await requireExisting({ engine }, queue);
    const page = await engine.admin.groups(queue!, { ...options.page(100), counts: true });
    const titles = ['GROUP', 'STATE', 'ACTIVE', 'WAITING', 'WEIGHT', 'RESTS UNTIL'];
    output.page(page, () => table(titles, page.groups.map(rowOf), 'No groups.'));
  },
};

function rowOf({ group, state, counts, weight, restsUntil }: GroupRecord): Cell[] {
  const { active, waiting } = counts!;
  const atLeast = active + waiting < MAX_COUNTED ? waiting : `${waiting}+`;
  return [group, state, active, atLeast, weight, time(restsUntil)];
}
