import { describeServers, freshDatabase } from '../support/servers.js';
import { startBoard } from './support/board-app.js';

describeServers('the requests of the board', (server) => {
  it('read and change everything', async () => {
    const database = await freshDatabase(server);
    const app = await startBoard({ connection: database.connection, queues: { sync: { groups: { concurrency: 2 } } } });
    const { read, write, producer, runner, consumer, schedules, admin } = app;
    const stop = await runner.handle('email', {}, (job) => {
      job.log('a line');
      throw Object.assign(new Error('no'), { code: 'E550' });
    });
    const { id } = await producer.enqueue('email', { to: 'ann' }, { headers: { tenant: 'acme' } });
    await runner.whenIdle();
    await stop();
    const { id: later } = await producer.enqueue('email', 1, { delay: '1h' });
    const { id: assigned } = await producer.enqueue('review', 1);
    await consumer.assign(assigned, 'ann');
    await producer.enqueue('other', 1);
    await producer.enqueue('sync', 1, { group: 'acme' });
    // No tick comes while the test runs.
    await schedules.upsert('leap', { queue: 'email', cron: '0 3 29 2 *' });
    const flow = await producer.flow((flow) => flow.add('ship', 1, { after: flow.add('pick', 1) }));

    const reads = [
      ...[
        'rights?queue=email',
        'queues',
        'throughput',
        'queue?queue=email',
        'history?queue=email&step=hour',
        'history',
        'problems',
        'diagnoses',
        'errors',
        'errors?queue=email',
        'dead-groups',
        'jobs',
      ],
      ...[
        'jobs?queue=email&state=dead&header=tenant:acme&order=newest',
        `job?id=${id}`,
        `logs?id=${id}`,
        `steps?id=${id}`,
        `explain?id=${later}`,
        'groups?queue=sync',
      ],
      ...['dead?queue=email', 'people?owner=ann', 'people?queue=review', 'people?queue=review&stage=a', 'schedules'],
      ...[
        'preview?name=leap',
        'past-ticks?name=leap',
        'preview?queue=email&cron=@daily',
        `flow?id=${flow.id}`,
        'flows?state=running&queue=ship',
        'waits?name=go&key=1&queue=email',
        'workers',
        'subscriptions',
        'audit',
      ],
    ];
    const writes: [string, object][] = [
      ...(['pause', 'resume'] as const).map((verb): [string, object] => [verb, { queue: 'email' }]),
      ['limit', { queue: 'email', change: { maxRunning: 3 } }],
      ['configure', { queue: 'email', settings: { concurrency: 3, enabled: { from: '08:00', to: '18:00' } } }],
      ['configure', { queue: 'email', settings: null }],
      ['pause-group', { queue: 'sync', group: 'acme' }],
      ['resume-group', { queue: 'sync', group: 'acme' }],
      ['limit-group', { queue: 'sync', group: 'acme', change: { weight: 2 } }],
      ['retry', { filter: { queue: 'email', state: 'dead', error: 'E550' }, dryRun: true }],
      ['retry', { filter: { queue: 'email', state: 'dead', error: 'E550' }, rate: '1/s', limit: 10 }],
      ['enqueue', { queue: 'other', payload: { by: 'hand' }, delay: '1h' }],
      ['enqueue', { queue: 'other', payload: 1, key: 'k', priority: -1, name: 'n' }],
      ['create-schedule', { name: 'hourly', queue: 'other', every: '1h', payload: { a: 1 } }],
      ['edit-schedule', { name: 'hourly', cron: '@daily', tz: 'Europe/Berlin', overlap: 'skip' }],
      ['remove-schedule', { name: 'hourly' }],
      ['reprioritise', { id: later, priority: 3 }],
      ['update', { id: later, payload: { new: true } }],
      ['reschedule', { id: later, delay: '2h' }],
      ['promote', { ids: [later] }],
      ['duplicate', { id: later }],
      ['duplicate', { id: later, payload: { copy: true } }],
      ['cancel', { filter: { queue: 'email', state: 'waiting' } }],
      ['remove', { filter: { queue: 'email', state: 'cancelled' } }],
      ['release', { id: assigned }],
      ['cancel-flow', { id: flow.id }],
      ['retry-flow', { id: flow.id }],
      ...['pause', 'resume', 'run'].map((verb): [string, object] => [`${verb}-schedule`, { name: 'leap' }]),
    ];
    const statuses: [string, number][] = [];
    for (const path of reads) statuses.push([path, (await read(path)).status]);
    for (const [verb, body] of writes) statuses.push([verb, (await write(verb, body)).status]);
    const counts = await admin.counts('email');
    const errors = app.errors.filter((line) => !line.includes('is dead after attempt'));
    await app.close();
    await database.drop();

    expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
    // The retried job, its copy and the promoted job were cancelled and removed. The schedule has enqueued another one.
    expect(counts).toMatchObject({ waiting: 1, scheduled: 0, dead: 0, cancelled: 0 });
    expect(errors).toEqual([]);
  });
});
