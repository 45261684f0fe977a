import { age } from '../../../common/units.js';
import { FLOW_STATES, type FlowSummary } from '../../../job/flows/flow-record.js';
import { oneOf, type Command } from '../command.js';
import { requireExisting } from '../existing-queue.js';
import { table } from '../output.js';

export const flows: Command = {
  usage: '[--state S] [--queue Q] [--oldest] [--limit N] [--after CURSOR]',
  async run({ engine, options, output }) {
    const state = options.text('state');
    const filter = {
      ...options.given('queue'),
      ...(state !== undefined && { state: oneOf(`--state to be ${FLOW_STATES.join(', ')}`, FLOW_STATES, state) }),
    };
    const asked = options.page();
    await requireExisting({ engine }, filter.queue);
    const order = options.flag('oldest') ? 'oldest' : 'newest';
    const page = await engine.admin.flows(filter, { ...asked, order });
    const now = engine.clock.now().getTime();
    const rows = page.flows.map((flow) => [
      ...[flow.id, flow.state, flow.queue, flow.name],
      ...[age(now - flow.createdAt.getTime()), countsText(flow)],
    ]);
    output.page(page, () => table(['ID', 'STATE', 'QUEUE', 'NAME', 'AGE', 'JOBS'], rows, 'No flows.'));
  },
};

function countsText({ counts, atLeast }: FlowSummary): string {
  const given = Object.entries(counts).filter(([, count]) => count > 0);
  return `${given.map(([state, count]) => `${count} ${state}`).join(', ')}${atLeast ? ' and more' : ''}`;
}
