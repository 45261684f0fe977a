import type { AdminEnqueueOptions } from '../../admin/enqueue-job.js';
import { checkQueueName } from '../../job/identifiers.js';
import { defined } from '../../job/option-schema.js';
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
  return {
    ...input.given('name', 'delay', 'key', 'group'),
    ...defined({ runAt: input.date('runAt'), priority: input.number('priority') }),
    ...(input.text('key') !== undefined && { onConflict: 'reject' }),
  } as AdminEnqueueOptions;
}
