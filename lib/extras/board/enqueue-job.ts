import type { AdminEnqueueOptions } from '../../admin/enqueue-job.js';
import { checkQueueName } from '../../job/identifiers.js';
import type { BoardCall } from './board-call.js';
import { queueFor } from './allowed.js';
import type { BoardInput } from './input.js';
import { newPayload } from './new-payload.js';

/** Enqueues a job. Another owner of its key is an error: the person who fills in the form wants a new job. */
export async function enqueueJob(call: BoardCall): Promise<object> {
  const queue = await queueFor(call, 'enqueue');
  checkQueueName(queue);
  const payload = newPayload(call.input.raw('payload'), 'Cannot enqueue');
  const { id } = await call.admin.enqueue(queue, payload, optionsOf(call.input));
  return { id };
}

function optionsOf(input: BoardInput): AdminEnqueueOptions {
  const [name, delay, key, group] = [input.text('name'), input.text('delay'), input.text('key'), input.text('group')];
  const [runAt, priority] = [input.date('runAt'), input.number('priority')];
  return {
    ...(name !== undefined && { name }),
    ...(delay !== undefined && { delay: delay as '1s' }),
    ...(runAt !== undefined && { runAt }),
    ...(priority !== undefined && { priority }),
    ...(key !== undefined && { key, onConflict: 'reject' }),
    ...(group !== undefined && { group }),
  };
}
