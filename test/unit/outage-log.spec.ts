import { OutageLog } from '../../lib/common/logger.js';

function setup(recovery?: string) {
  const log: string[] = [];
  const logger = {
    log: (line: string) => void log.push(`log: ${line}`),
    warn: (line: string) => void log.push(`warn: ${line}`),
    error: () => undefined,
    debug: () => undefined,
  };
  return { log, outage: new OutageLog(logger, 'Cannot poll', recovery) };
}

describe('OutageLog', () => {
  it('logs the first failure and the first success of each outage', () => {
    const { log, outage } = setup('The database is available again.');

    outage.onSuccess();
    outage.onFailure(new Error('no route'));
    outage.onFailure(new Error('no answer'));
    outage.onSuccess();
    outage.onSuccess();
    outage.onFailure(new Error('no route'));

    expect(log).toEqual([
      'warn: Cannot poll: no route',
      'log: The database is available again.',
      'warn: Cannot poll: no route',
    ]);
  });

  it('logs no recovery without a message for it', () => {
    const { log, outage } = setup();

    outage.onFailure(new Error('no route'));
    outage.onSuccess();

    expect(log).toEqual(['warn: Cannot poll: no route']);
  });

  it.each<[thrown: unknown, text: string]>([
    ['no route', 'no route'],
    [null, 'null'],
    [undefined, 'undefined'],
    [{ code: 7 }, '{"code":7}'],
    [{ message: 'of another realm' }, 'of another realm'],
  ])('logs a thrown value that is no Error (%#)', (thrown, text) => {
    const { log, outage } = setup();

    outage.onFailure(thrown);

    expect(log).toEqual([`warn: Cannot poll: ${text}`]);
  });

  it('logs an error that cannot be read', () => {
    const { log, outage } = setup();
    const throws = () => {
      throw new Error('no');
    };

    outage.onFailure(Object.defineProperty({}, 'message', { get: throws }));

    expect(log).toEqual(['warn: Cannot poll: an error that cannot be read']);
  });
});
