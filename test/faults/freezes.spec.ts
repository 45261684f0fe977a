import { describeEngines, gate, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';

const queue = { lease: '1s', retry: { attempts: 3, backoff: 0 } } as const;

describeEngines('the only worker process, frozen past its lease', (setup) => {
  it('keeps its job, whose handler is not told of a loss, and its driver prints nothing', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const frozen = await processes.worker({ queue, forward: ['lost', 'rescued', 'completed'] });
    const { producer, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', { hold: true });
    await frozen.untilMessage('holding', id);

    frozen.send({ freeze: true });
    await eventually(async () => (await leaseUntil(world)) < (await world.now()) - 1_000);
    frozen.signal('SIGCONT');
    await eventually(async () => (await leaseUntil(world)) > (await world.now()));
    frozen.send({ finish: true });
    await frozen.events.until('completed');

    expect([...frozen.events.of('lost'), ...frozen.events.of('rescued')]).toEqual([]);
    expect(frozen.errorOutput).not.toContain('out of order');
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
    expect(processes.journal().filter(({ kind }) => kind === 'begin')).toHaveLength(1);
    expect(await processes.violations()).toEqual([]);
  });
});

async function leaseUntil({ sql }: World): Promise<number> {
  const [claim] = await sql<{ lease_until: number }>('SELECT lease_until FROM sql_queue_claims');
  return Number(claim!.lease_until);
}

describeEngines('a worker process frozen past its lease', (setup) => {
  it('finds its signal aborted and its completion rejected, and the result of the second run stands', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const frozen = await processes.worker({ queue, forward: ['lost', 'completed'] });
    const { open, opened } = gate<string>();
    // The frozen worker must not rescue the job of a slow heir.
    const queues = { q: { ...queue, lease: '30s' } } as const;
    const heir = await world.start({ queues, handlers: { q: () => opened }, autoStart: false });
    const { id } = await heir.producer.enqueue('q', { hold: true });
    await frozen.untilMessage('holding', id);

    frozen.send({ freeze: true });
    await heir.runner.start();
    await heir.events.until('started');
    frozen.signal('SIGCONT');
    await frozen.untilMessage('aborted LEASE_LOST', id);
    frozen.send({ finish: true });
    const lost = await frozen.events.until('lost');
    open('of the heir');
    await heir.events.until('completed');

    expect(lost).toMatchObject({ jobId: id, attempt: 1, error: { name: 'LeaseLostError', code: 'LEASE_LOST' } });
    expect(frozen.events.of('completed')).toEqual([]);
    expect(await heir.admin.get(id)).toMatchObject({ state: 'completed', attempt: 2, result: 'of the heir' });
  });
});
