import { compress } from '../../lib/extras/codecs/compress.js';
import { readEnvelope, toEnvelope, type CodecContent, type PayloadCodec } from '../../lib/job/codec/payload-codec.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate } from '../support/engines.js';
import { blobsFor } from '../support/test-blobs.js';

/** A codec that never answers for one kind of content. */
function hangingFor(hanging: CodecContent): PayloadCodec {
  return {
    encode: (text, { what }) =>
      what === hanging
        ? new Promise(() => undefined)
        : toEnvelope({ key: 'plain64', content: Buffer.from(text).toString('base64') }),
    decode: (stored) => Buffer.from(readEnvelope(stored)!.content, 'base64').toString(),
  };
}

const BRIEFLY = { timeout: '1s', concurrency: 1, retry: 1 } as const;

describeEngines('a codec that never answers', (setup) => {
  it.each(['result', 'error', 'log', 'progress', 'step'] as const)(
    'for a %s ends with the timeout of the job, frees its slot and is in the log',
    async (what) => {
      const world = await setup();
      const { producer, admin, events, log } = await world.start({
        codec: hangingFor(what),
        queues: { q: BRIEFLY },
        handlers: {
          q: async (job: JobContext<{ n: number }>) => {
            if (job.payload.n === 2) return undefined;
            if (what === 'error') throw new Error('no');
            if (what === 'log') job.log('a line');
            if (what === 'progress') job.progress(1);
            if (what === 'step') await job.step('step', () => 1);
            return what === 'result' ? 1 : undefined;
          },
        },
      });

      const { id } = await producer.enqueue('q', { n: 1 });
      const { id: next } = await producer.enqueue('q', { n: 2 });
      await events.until('completed', { jobId: next });

      const state = what === 'error' || what === 'step' ? 'dead' : 'completed';
      await events.until(state, { jobId: id });
      expect(await admin.get(id)).toMatchObject({ state });
      expect(log.join('\n')).toMatch(/has not answered within|ran longer than its timeout/);
    },
  );
});

describeEngines('a codec that has not answered yet', (setup) => {
  const plain = hangingFor('signal');

  /** It encodes such content with the text "held" when the test lets it answer. */
  function waitingFor(what: CodecContent) {
    const { opened: answered, open: answer } = gate();
    const codec: PayloadCodec = {
      ...plain,
      encode: async (text, context) => {
        if (context.what === what && /held/.test(text)) await answered;
        return plain.encode(text, context);
      },
    };
    return { codec, answer };
  }

  it('for an error delays only the end of its job, not that of other jobs or the next claim', async () => {
    const world = await setup();
    const { codec, answer } = waitingFor('error');
    const { opened: ended, open: end } = gate();
    const { producer, admin, events } = await world.start({
      codec,
      queues: { failing: { retry: 1 }, other: { concurrency: 1, prefetch: 0 } },
      handlers: {
        failing: async () => {
          await ended;
          throw new Error('held');
        },
        other: () => ended,
      },
    });
    const { id } = await producer.enqueue('failing', 0);
    await events.until('started', { jobId: id });
    const { id: first } = await producer.enqueue('other', 0);
    const { id: second } = await producer.enqueue('other', 0);
    await events.until('started', { jobId: first });

    end();
    await events.until('completed', { jobId: first });
    await events.until('completed', { jobId: second });

    expect(events.of('dead')).toEqual([]);
    answer();
    await events.until('dead', { jobId: id });
    expect(await admin.get(id)).toMatchObject({ state: 'dead', error: { message: 'held' } });
  });

  it.each(['log', 'progress'] as const)('for a %s delays only the end of its job', async (what) => {
    const world = await setup();
    const { codec, answer } = waitingFor(what);
    const { producer, admin, events } = await world.start({
      codec,
      handlers: {
        q: (job: JobContext<string>) => {
          if (what === 'log') job.log(job.payload);
          else job.progress(job.payload);
        },
      },
    });

    const { id } = await producer.enqueue('q', 'held');
    await events.until('started', { jobId: id });
    const { id: other } = await producer.enqueue('q', 'plain');
    await events.until('completed', { jobId: other });

    expect(events.jobs('completed')).toEqual([other]);
    answer();
    await events.until('completed', { jobId: id });
    for (const [jobId, text] of [
      [id, 'held'],
      [other, 'plain'],
    ] as const) {
      if (what === 'log') expect((await admin.logs(jobId)).lines).toMatchObject([{ line: text }]);
      else expect(await admin.get(jobId)).toMatchObject({ progress: text });
    }
  });

  it('for log lines keeps the order of the lines of its job', async () => {
    const world = await setup();
    const { codec, answer } = waitingFor('log');
    const { opened: ended, open: end } = gate();
    const { producer, admin, events } = await world.start({
      codec,
      handlers: {
        q: async (job: JobContext<number>) => {
          job.log('held');
          await producer.enqueue('next', 0);
          await ended;
          job.log('last');
        },
        next: (job: JobContext<number>) => job.log('other'),
      },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('completed', { queue: 'next' });
    end();
    answer();
    await events.until('completed', { jobId: id });

    expect((await admin.logs(id)).lines).toMatchObject([{ line: 'held' }, { line: 'last' }]);
  });
});

describeEngines('a blob store that never answers', (setup) => {
  it('leaves a result in its row when the timeout of the job is over', async () => {
    const world = await setup();
    const { store } = await blobsFor(world);
    const long = 'x'.repeat(2_000);
    const { producer, admin, events } = await world.start({
      blobs: { store: { ...store, get: store.get.bind(store), put: () => new Promise(() => undefined) }, over: '1kb' },
      queues: { q: BRIEFLY },
      handlers: { q: () => long },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('completed', { jobId: id });

    expect(await admin.get(id)).toMatchObject({ state: 'completed', result: long });
  });
});

describeEngines('content above the maxSize of compress', (setup) => {
  const codec = compress({ over: '1kb', maxSize: '2kb' });
  const large = 'x'.repeat(4_000);

  it('is refused where it is stored', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      codec,
      queues: { q: { retry: 1 } },
      handlers: {
        q: async (job: JobContext<string>) => {
          job.progress(large);
          job.log('a short line');
          if (job.payload === 'step') await job.step('step', () => large);
          return large;
        },
      },
    });

    const refused = { code: 'UNENCODABLE_CONTENT', message: expect.stringContaining('maxSize of compress') as string };
    await expect(producer.enqueue('q', large)).rejects.toMatchObject(refused);
    await expect(producer.signal('go', 'k', large)).rejects.toMatchObject(refused);
    const { id: dead } = await producer.enqueue('q', 'step');
    await events.until('dead');
    const { id: completed } = await producer.enqueue('q', 'result');
    await events.until('completed');

    expect(await admin.get(dead)).toMatchObject({ error: refused });
    expect(await admin.get(completed)).toMatchObject({ state: 'completed', result: null });
    await expect(producer.waitFor(completed)).rejects.toMatchObject({ code: 'RESULT_INVALID' });
  });
});

describeEngines('a result that cannot be decoded', (setup) => {
  it('rejects the wait with UndecodableContentError', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      codec: hangingFor('signal'),
      handlers: { q: () => ({ secret: 1 }) },
    });
    const { id } = await producer.enqueue('q', 0);
    await events.until('completed');
    const other = await world.start({ codec: compress(), autoStart: false });

    const waiting = other.producer.waitFor(id);

    await expect(waiting).rejects.toMatchObject({ name: 'UndecodableContentError', code: 'UNDECODABLE_CONTENT' });
  });
});
