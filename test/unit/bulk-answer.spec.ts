import { bulkAnswer } from '../../lib/extras/board/bulk-actions.js';
import type { BoardCall } from '../../lib/extras/board/board-call.js';
import { BoardInput } from '../../lib/extras/board/input.js';

const job = (id: number, state: string) => ({ id, queue: 'q', state });
const count = (value: number) => ({ value, atLeast: false });

/** A call with ids 1 to 4: job 4 does not exist, and job 3 is removed after the first read. */
function dryRun(input: object) {
  const reads = [
    [job(1, 'dead'), job(2, 'waiting'), job(3, 'dead')],
    [job(1, 'waiting'), job(2, 'waiting')],
  ];
  const admin = {
    states: () => Promise.resolve(reads.shift() ?? []),
    preview: () => Promise.resolve({ changes: count(1), skips: { waiting: count(1), unknown: count(1) } }),
  };
  const access = { require: () => Promise.resolve() };
  const call = { admin, access, input: new BoardInput({ ids: [1, 2, 3, 4], dryRun: true, ...input }) };
  return bulkAnswer(call as unknown as BoardCall, 'retry', {}, () => Promise.reject(new Error('acted')));
}

describe('the dry run of an action on several jobs', () => {
  it('counts all jobs that do not exist, and those that have left the state of the list in the first read', async () => {
    expect(await dryRun({ listState: 'dead' })).toEqual({
      changed: 1,
      changes: count(1),
      skips: { waiting: count(1), unknown: count(2) },
      left: { waiting: 1 },
    });
  });

  it.each([0, 0.5, -1, 10_001, 'some'])('refuses the limit %s, as the action does', async (limit) => {
    await expect(dryRun({ limit })).rejects.toThrow(/limit to be a whole number from 1 to 10000/);
  });
});
