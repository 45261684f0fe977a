// The lists of the board and of the command, with their first page, one from the middle, and one near the end.
import { AUDIT, COMPLETED, DEAD, FIRST_COMPLETED, FIRST_DEAD, GROUPS } from './seed.mjs';

/**
 * `board`: the path and the query of a request. `cli`: the name of a command, its arguments and its options.
 *
 * @param ids `middle` and `newest` of the unfinished jobs
 * @param scale of the numbers of rows
 * @param cursorOf makes the cursor of a position in a list
 */
export function readsOf({ middle, newest }, scale, cursorOf) {
  const now = Date.now();
  const within = (first, count) => ({ middle: [first + (count * scale) / 2], end: [first + count * scale * 0.99] });
  const at = (list, order, ...position) => ({ order, after: cursorOf(position, list, order) });
  const pages = (title, path, list, positions, more = {}) => [
    { title, page: 'first', board: [path, more] },
    { title, page: 'newest', board: [path, { ...more, order: 'newest' }] },
    ...Object.entries(positions).flatMap(([page, position]) => [
      { title, page, board: [path, { ...more, ...at(list, 'oldest', ...position) }] },
      { title, page: `${page}, newest`, board: [path, { ...more, ...at(list, 'newest', ...position) }] },
    ]),
  ];
  const live = { middle: [middle], end: [newest - 1_000] };
  const finished = within(FIRST_COMPLETED, COMPLETED);
  const dead = within(FIRST_DEAD, DEAD);
  const both = { ...live, 'finished middle': finished.middle };
  const audited = { middle: [now - (AUDIT * scale) / 2, (AUDIT * scale) / 2] };
  const jobs = (title, filter, positions) => pages(title, 'jobs', 'jobs', positions, filter);
  return [
    ...['rights', 'queues', 'throughput', 'workers', 'subscriptions', 'schedules'].map((path) => ({
      title: path,
      page: 'all',
      board: [path, {}],
    })),
    { title: 'queue', page: 'one', board: ['queue', { queue: 'large' }] },
    ...['minute', 'hour', 'day'].map((step) => ({
      title: 'history',
      page: step,
      board: ['history', { queue: 'large', step }],
    })),
    { title: 'dead, by error', page: '500 jobs', board: ['dead', { queue: 'large' }] },
    ...jobs('jobs', {}, both),
    ...jobs('jobs of a large queue', { queue: 'large' }, both),
    ...jobs('jobs of a small queue', { queue: 'small-3' }, live),
    ...jobs('waiting', { queue: 'large', state: 'waiting' }, live),
    ...jobs('waiting of all queues', { state: 'waiting' }, live),
    ...jobs('waiting in groups', { queue: 'grouped', state: 'waiting' }, live),
    ...pages(
      'scheduled',
      'jobs',
      'scheduled',
      { middle: [4_000_000_025_000, '', 0, 0], end: [4_000_000_049_000, '', 0, 0] },
      { queue: 'large', state: 'scheduled' },
    ),
    ...jobs('blocked', { state: 'blocked' }, live),
    ...jobs('active', { state: 'active' }, { middle: [1_500] }),
    ...jobs('completed', { queue: 'large', state: 'completed' }, finished),
    ...jobs('completed of all queues', { state: 'completed' }, finished),
    ...jobs('dead', { queue: 'large', state: 'dead' }, dead),
    ...jobs('dead of all queues', { state: 'dead' }, dead),
    ...jobs('dead by error', { queue: 'large', state: 'dead', error: 'E3' }, dead),
    ...jobs('dead by unknown error', { queue: 'large', state: 'dead', error: 'E_UNKNOWN' }, dead),
    ...jobs('cancelled', { queue: 'large', state: 'cancelled' }, finished),
    ...jobs('by name', { queue: 'large', name: 'n3' }, both),
    ...jobs('by unknown name', { queue: 'large', name: 'unknown' }, both),
    ...jobs('by key', { queue: 'large', key: 'order-500000' }, live),
    ...jobs('by key of all queues', { key: 'order-500000' }, live),
    ...jobs('by unknown key', { queue: 'large', key: 'unknown' }, live),
    ...jobs('by header', { queue: 'large', header: 'tenant:t42' }, both),
    ...jobs('by unknown header', { queue: 'large', header: 'tenant:unknown' }, live),
    ...jobs('by owner', { owner: 'person-8' }, { middle: [1_000], 'finished middle': finished.middle }),
    ...jobs('by owner of a queue', { queue: 'large', owner: 'person-8' }, { 'finished middle': finished.middle }),
    ...jobs('by worker', { worker: 'worker-7' }, { middle: [2_500], 'finished middle': finished.middle }),
    ...jobs('by time', { queue: 'large', createdAfter: '2035-01-01T00:00:00Z' }, live),
    ...jobs('by end', { queue: 'large', finishedBefore: new Date(now - 900_000).toISOString() }, finished),
    { title: 'job', page: 'live', board: ['job', { id: middle }] },
    { title: 'job', page: 'finished', board: ['job', { id: finished.middle[0] }] },
    ...pages('logs', 'logs', 'logs', { middle: [500], end: [900] }, { id: FIRST_COMPLETED }),
    { title: 'groups', page: 'first', board: ['groups', { queue: 'grouped' }] },
    { title: 'groups', page: 'middle', board: ['groups', { queue: 'grouped', after: `g${GROUPS / 2}` }] },
    { title: 'groups', page: 'end', board: ['groups', { queue: 'grouped', after: `g98` }] },
    ...pages('people, owner', 'people', 'assigned', { middle: [1_000] }, { owner: 'person-8' }),
    ...pages('people, unassigned', 'people', 'unassigned', { middle: [1, middle] }, { queue: 'large' }),
    ...pages(
      'people, stage',
      'people',
      'stage',
      { middle: [0, newest - 1_000] },
      { queue: 'review', stage: 'second opinion' },
    ),
    ...pages('audit', 'audit', 'audit', audited),
    ...pages('audit of a queue', 'audit', 'audit', audited, { queue: 'large' }),
    ...pages('audit of a user', 'audit', 'audit', audited, { by: 'person-8' }),
    ...pages('audit of a verb', 'audit', 'audit', audited, { verb: 'retry' }),
    ...pages('audit, all', 'audit', 'audit', {}, { queue: 'large', by: 'person-8', verb: 'cancel' }),
    { title: 'flow of 1,000 jobs', page: 'all', board: ['flow', { id: 1 }] },
    ...commands(middle),
  ];
}

function commands(id) {
  const of = (name, args = [], values = {}) => ({
    title: [name, ...args, ...Object.entries(values).map(([option, value]) => `--${option} ${value}`)].join(' '),
    page: 'command',
    cli: [name, args, values],
  });
  return [
    of('status'),
    of('status', ['large']),
    of('history', ['large'], { count: '500' }),
    of('history', ['large'], { step: 'day', count: '365' }),
    of('list', [], { limit: '1000' }),
    of('list', ['large', 'waiting']),
    of('list', ['large', 'dead'], { error: 'E3', newest: true }),
    of('list', [], { key: 'order-500000' }),
    of('list', ['large'], { header: ['tenant=t42'] }),
    of('show', [String(id)]),
    of('logs', [String(FIRST_COMPLETED)]),
    of('flow', ['1']),
    of('groups', ['grouped'], { limit: '1000' }),
    of('workers'),
    of('schedules'),
  ];
}
