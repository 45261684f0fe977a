import { Controller, Module } from '@nestjs/common';
import { JobHandler, OnQueueEvent, QueueProcessor, type QueueEventName } from 'nestjs-sql-queue';
import { QUEUE_EVENTS } from '../../lib/job/queue-event.js';
import { startError } from './support/application.js';

class Mails {
  @QueueProcessor('mail')
  send() {}
}

async function problems(providers: (new () => object)[]): Promise<readonly string[]> {
  const error = (await startError({ providers })) as Error & { code?: string; problems: string[] };
  expect(error.code).toBe('INVALID_OPTIONS');
  return error.problems;
}

describe('the boot stops', () => {
  it('at two handlers for one queue, and the error names both', async () => {
    class Letters {
      @QueueProcessor('mail')
      post() {}
    }
    @Module({ providers: [Letters] })
    class LettersModule {}

    const error = await startError({ imports: [LettersModule], providers: [Mails] });

    expect(error.message).toMatch(
      /^Queue handlers: two handlers for queue "mail": (Mails\.send \(in \w+\) and Letters\.post \(in LettersModule\)|Letters\.post \(in LettersModule\) and Mails\.send \(in \w+\))\. Remove one of them$/,
    );
  });

  it('at two handlers for one name of a queue', async () => {
    @QueueProcessor('mail')
    class Twice {
      @JobHandler('welcome')
      first() {}

      @JobHandler('welcome')
      second() {}

      @JobHandler('other')
      other() {}
    }

    expect(await problems([Twice])).toEqual([
      expect.stringMatching(/^two handlers for queue "mail", name "welcome": Twice\.first .* and Twice\.second /),
    ]);
  });

  it('at one handler class in the providers of two modules', async () => {
    @Module({ providers: [Mails] })
    class First {}
    @Module({ providers: [Mails] })
    class Second {}

    const error = await startError({ imports: [First, Second] });

    expect(error.message).toContain('Mails.send (in First) and Mails.send (in Second)');
  });

  it('at a listener for an unknown event, and the error suggests the nearest event', async () => {
    class Listener {
      @OnQueueEvent('complete' as QueueEventName)
      near() {}

      @OnQueueEvent('xyzzy' as QueueEventName)
      far() {}
    }

    expect(await problems([Listener])).toEqual([
      'Listener.near: unknown event "complete", did you mean "completed"?',
      `Listener.far: unknown event "xyzzy" (known: ${QUEUE_EVENTS.join(', ')})`,
    ]);
  });

  it('at a listener from anywhere for a queue without stored events, or for an unstored event', async () => {
    class Listener {
      @OnQueueEvent('completed', { queue: 'silent', from: 'anywhere' })
      silent() {}

      @OnQueueEvent('failed', { from: 'anywhere' })
      any() {}
    }
    class Odd {
      @OnQueueEvent('started', { queue: 'silent', from: 'anywhere' })
      started() {}

      @OnQueueEvent('dead', { from: 'there' as 'here' })
      there() {}
    }

    const way = 'got none: events from anywhere are stored only with it';
    expect(await problems([Listener])).toEqual([
      `Listener.silent: expected the option \`events: true\` for queue "silent", ${way}`,
      `Listener.any: expected the option \`events: true\` for some queue, ${way}`,
    ]);
    expect(await problems([Odd])).toEqual([
      `Odd.started: expected from 'here' for "started", got 'anywhere': the database does not store this event. Listen to "claimed"`,
      `Odd.there: expected from to be 'here' or 'anywhere', got "there"`,
    ]);
  });

  it('at names that cannot be stored', async () => {
    class Handlers {
      @QueueProcessor('no spaces')
      queue() {}

      @QueueProcessor('mail')
      @JobHandler('ümlaut')
      name() {}
    }

    expect(await problems([Handlers])).toEqual([
      expect.stringMatching(/^Handlers\.queue: expected queue name to be 1 to 100 of .*, got "no spaces"$/),
      expect.stringMatching(/^Handlers\.name: expected job name to be 1 to 100 of .*, got "ümlaut"$/),
    ]);
  });

  it('at invalid options of a decorator', async () => {
    class Handlers {
      @QueueProcessor('mail', { leese: '30s', concurrency: 0 } as never)
      send() {}
    }

    expect(await problems([Handlers])).toEqual([
      'Handlers.send: unknown option "leese", did you mean "lease"?',
      'Handlers.send: expected concurrency to be a whole number from 1 to 10000, got 0',
    ]);
  });

  it('at options of one queue in two places', async () => {
    @QueueProcessor('mail', { concurrency: 1 })
    class Handlers {
      @JobHandler('a')
      a() {}

      @QueueProcessor('mail', { concurrency: 2 })
      @JobHandler('b')
      b() {}
    }

    expect(await problems([Handlers])).toEqual([
      'queue "mail" has options at Handlers and at Handlers.b, expected them in one place',
    ]);
  });

  it('at @JobHandler without a queue', async () => {
    class Handlers {
      @JobHandler('welcome')
      welcome() {}
    }

    expect(await problems([Handlers])).toEqual([
      expect.stringMatching(/^Handlers\.welcome: expected @QueueProcessor\('queue'\) on the class or the method/),
    ]);
  });

  it('at a class with @QueueProcessor and no handler', async () => {
    @QueueProcessor('mail')
    class Handlers {
      hanlde() {}
    }

    expect(await problems([Handlers])).toEqual([
      expect.stringMatching(/^Handlers: expected a method handle\(\) or methods with @JobHandler\(\)/),
    ]);
  });

  it('with one error for all problems', async () => {
    class Handlers {
      @QueueProcessor('mail', { concurency: 1 } as never)
      first() {}

      @QueueProcessor('mail')
      second() {}

      @OnQueueEvent('ded' as QueueEventName)
      third() {}
    }
    @Controller()
    class AlsoWrong {
      @JobHandler()
      fourth() {}
    }

    const error = await startError({ providers: [Handlers], controllers: [AlsoWrong] });

    for (const part of ['"concurency", did you mean "concurrency"?', 'two handlers', '"ded"', 'AlsoWrong.fourth'])
      expect(error.message).toContain(part);
  });
});

describe('a method with two @QueueProcessor', () => {
  it('is rejected when its class is declared, because one of them would be ignored', () => {
    const declare = () => {
      class Handlers {
        @QueueProcessor('a')
        @QueueProcessor('b')
        both() {}
      }
      return Handlers;
    };

    expect(declare).toThrow(
      'Handlers.both: expected one @QueueProcessor(), got two: "a" and "b". Give each queue a method',
    );
  });
});

describe('a method with two @JobHandler', () => {
  it('is rejected when its class is declared, because one of the names would be ignored', () => {
    const declare = () => {
      @QueueProcessor('a')
      class Handlers {
        @JobHandler('one')
        @JobHandler()
        both() {}
      }
      return Handlers;
    };

    expect(declare).toThrow(
      `Handlers.both: expected one @JobHandler(), got two: @JobHandler() and @JobHandler('one'). Give each name a method`,
    );
  });
});
