// Realistic data of a small shop, for pictures and demonstrations of the board: its CRM fails, and a queue is paused.

import { setTimeout as sleep } from 'node:timers/promises';

export const OPTIONS = {
  defaults: { retry: { attempts: 3, backoff: 0 } },
  queues: {
    'email.send': { concurrency: 4 },
    'report.build': { groups: { concurrency: 2 } },
    'crm.push': { maxRunning: 20, rate: { limit: 100, per: '1s' } },
  },
};

const CUSTOMERS = ['ann@example.com', 'bob@example.org', 'cleo@example.net', 'dan@example.com'];
const LONG_MS = 86_400_000;
const TENANTS = ['acme', 'globex', 'initech', 'umbrella'];

/** The handlers of the demonstration, by queue. */
export const HANDLERS = {
  'email.send': async (job) => {
    job.log(`rendered template ${job.payload.template}`);
    if (job.payload.n % 5 === 0) throw failure('550 mailbox unavailable', 'E550', 'mail/smtp');
    if (job.payload.n % 7 === 0) throw failure('connect ECONNREFUSED 10.0.4.12:25', 'ECONNREFUSED', 'mail/smtp');
    job.log('accepted by mx1.example.net');
    return { messageId: `<${job.id}@shop.example>` };
  },
  'report.build': async (job) => {
    job.progress({ rows: 41_250, of: 96_000 });
    await sleep(LONG_MS, undefined, { signal: job.signal });
  },
  'order.charge': async () => ({ paid: true }),
  'crm.push': async (job) => {
    job.log(`push contact ${job.payload.contact}`);
    const isRefused = job.payload.contact < 24;
    if (isRefused) throw failure('503 Service Unavailable: upstream connect error', 'HTTP_503', 'crm/crm-client');
    await sleep(LONG_MS, undefined, { signal: job.signal });
  },
  'order.process': async (job) => {
    await job.step('charge', async () => ({ charge: 'ch_4711', amount: 4_200 }));
    await job.waitFor('approval', { key: 'order:4711', timeout: '7d' });
  },
};

/** An error with the stack of an application, so that the pictures show no folder of this machine. */
function failure(message, code, file) {
  const frames = [
    `at request (/app/dist/${file}.js:41:13)`,
    'at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
    `at async push (/app/dist/${file}.processor.js:18:22)`,
    'at async Run.start (/app/node_modules/nestjs-sql-queue/dist/engine.js:7800:14)',
  ];
  const stack = [`Error: ${message}`, ...frames.map((frame) => `    ${frame}`)].join('\n');
  return Object.assign(new Error(message), { code, stack });
}

/** Enqueues the jobs. The worker must run, and has run some of them when this resolves. */
export async function seed({ producer, admin, consumer, schedules, runner }) {
  await producer.enqueueMany('email.send', range(60).map(email));
  await producer.enqueueMany(
    'crm.push',
    range(24).map((n) => ({ payload: { contact: n }, options: { name: 'contact.upsert', key: `contact:${n}` } })),
  );
  await runner.whenIdle();
  const { id: order } = await producer.enqueue('order.process', { order: 4711, lines: [{ sku: 'A-17', count: 2 }] });
  await runner.whenIdle();
  await admin.pause('invoice.render', { create: true });
  await producer.enqueueMany(
    'invoice.render',
    range(40).map((n) => ({ payload: { invoice: n } })),
  );
  await producer.enqueueMany(
    'report.build',
    range(24).map((n) => ({ payload: { month: '2026-10', n }, options: { group: TENANTS[n % TENANTS.length] } })),
  );
  await producer.enqueueMany(
    'crm.push',
    range(180).map((n) => ({ payload: { contact: 100 + n } })),
  );
  await producer.enqueueMany(
    'email.send',
    range(12).map((n) => ({ payload: { n: 1 }, options: { delay: `${n + 1}h` } })),
  );
  await producer.enqueueMany(
    'photo.review',
    range(2).map((n) => ({ payload: { photo: `photo-${n}.jpg` } })),
  );
  await consumer.claim('photo.review', { owner: 'ann', lease: '1h' });
  const [second] = await consumer.claim('photo.review', { owner: 'bob', lease: '30m' });
  await consumer.move(second.id, { owner: 'bob', stage: 'second opinion' });
  await schedules.upsert('report:daily', { queue: 'report.build', cron: '0 3 * * *', tz: 'Europe/Berlin' });
  await schedules.upsert('crm:sync', { queue: 'crm.push', every: '15m', payload: { full: false } });
  await schedules.pause('crm:sync');
  await admin.subscribe('email.send', { topic: ['order.*', 'user.created'] });
  await admin.subscribe('crm.push', { topic: 'user.*', where: { region: ['eu', 'uk'] } });
  await admin.group('report.build', 'globex').pause();
  const flow = await producer.flow((flow) => {
    const charge = flow.add('order.charge', { order: 4711 });
    const pick = flow.add('crm.push', { step: 'pick' }, { after: charge });
    const invoice = flow.add('crm.push', { step: 'invoice' }, { after: charge });
    flow.add('crm.push', { step: 'ship' }, { after: [pick, invoice] });
  });
  return { flow: flow.id, order };
}

/**
 * Stores attempts of the last hour, as the processes of a busy shop would have done.
 *
 * @param sql runs a statement of SQLite with values
 */
export async function seedHistory(sql, now) {
  const minute = now - (now % 60_000);
  const statement = `REPLACE INTO sql_queue_metrics
    (queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs)
    VALUES (?, 60000, ?, 0, ?, ?, ?, 0, ?, ?)`;
  const errors = `REPLACE INTO sql_queue_errors
    (queue, step_ms, starts_at, recorder, error, failed, dead, first_at, last_at, job_id)
    VALUES (?, 60000, ?, 0, ?, ?, 0, ?, ?, ?)`;
  for (const [queue, base] of Object.entries({
    'email.send': 240,
    'report.build': 12,
    'crm.push': 90,
    'order.charge': 60,
  })) {
    // The board shows the message of this job.
    const like = `%"code":"${ERRORS[queue]}"%`;
    const [job] = await sql('SELECT MAX(id) AS id FROM sql_queue_history WHERE queue = ? AND error LIKE ?', [
      queue,
      like,
    ]);
    for (const ago of range(60)) {
      const wave = 1 + 0.5 * Math.sin(ago / 7) + 0.15 * Math.sin(ago * 2.3);
      const completed = Math.round(base * wave);
      const failed = Math.round(base * failedShare(queue, ago));
      const spread = (start) => JSON.stringify(histogram(start, completed + failed));
      const at = minute - ago * 60_000;
      const values = [queue, at, completed, failed, 0, spread(8 + Math.round(3 * wave)), spread(12)];
      await sql(statement, values);
      const error = ERRORS[queue];
      if (error !== undefined && failed > 0)
        await sql(errors, [queue, at, error, failed, at, Math.min(now, at + 59_000), job.id]);
    }
  }
}

const ERRORS = { 'email.send': 'E550', 'crm.push': 'HTTP_503' };

/** The CRM has failed for 38 minutes, ever more often. */
function failedShare(queue, ago) {
  if (queue === 'crm.push') return ago < 38 ? 0.35 + (38 - ago) * 0.008 : 0.01;
  return ago > 18 && ago < 25 ? 0.05 : 0.01;
}

function email(n) {
  return {
    payload: { n, to: CUSTOMERS[n % CUSTOMERS.length], template: 'order-confirmed', smtpPassword: 'hunter2' },
    options: { name: n % 3 === 0 ? 'invoice' : 'welcome', headers: { tenant: TENANTS[n % 4] }, key: `order-${n}` },
  };
}

/** Counts per range of durations; see lib/job/histogram.ts. */
function histogram(start, count) {
  const shares = [0.1, 0.45, 0.25, 0.12, 0.05, 0.02, 0.01];
  return [...range(start).map(() => 0), ...shares.map((share) => Math.round(share * count))];
}

function range(length) {
  return Array.from({ length }, (_, index) => index);
}
