import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { behindProxy } from '../support/behind-proxy.js';
import { installLibrary } from '../support/built-library.js';
import { describeEngines, gate, type World } from '../support/engines.js';
import { PseudoTerminal } from '../support/pseudo-terminal.js';

const KEYS = { ctrlC: '\x03' };
const SIZE = [24, 120] as const;
const RESTORED = { alternateScreen: false, cursor: true, wrap: true };

const root = resolve(import.meta.dirname, '../..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sql-queue-top-'));
  await installLibrary(join(folder, 'package'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function withTables(setup: () => Promise<World>): Promise<World> {
  const world = await setup();
  await (await world.start({ autoStart: false })).close();
  return world;
}

/** Starts `top` in a terminal that closes after the test. */
function top(
  world: World,
  { size = SIZE, dataSource = world.dataSource, env: more = {} }: Settings = {},
): PseudoTerminal {
  const { url, database } = dataSource.options as { url?: string; database?: string };
  const env = { ...process.env, NODE_OPTIONS: '', SQL_QUEUE_URL: url ?? `sqlite:${database}`, TERM: 'xterm', ...more };
  const command = [process.execPath, join(folder, 'package/dist/cli.js'), 'top'];
  const terminal = PseudoTerminal.start(command, { env, size });
  world.afterTest(() => terminal.close());
  return terminal;
}

interface Settings {
  size?: readonly [number, number] | null;
  dataSource?: DataSource;
  env?: Readonly<Record<string, string>>;
}

describeEngines('top in a terminal', (setup) => {
  it('shows the problems and the queues, shows a new job, and leaves the terminal as it was after q', async () => {
    const world = await setup();
    const { producer } = await world.start({ autoStart: false });
    await producer.enqueue('mail', 0);
    const terminal = top(world);

    await terminal.untilScreen(/, q leaves\n\n✗ No worker serves queue "mail": .*\n\nQUEUE +WAITING .*\nmail +1 /);
    const during = terminal.modes;
    await producer.enqueue('mail', 0);
    await terminal.untilScreen(/\nmail +2 /);
    terminal.press('q');
    await terminal.untilEnd();

    expect(during).toEqual({ alternateScreen: true, cursor: false, wrap: false });
    expect(terminal.modes).toEqual(RESTORED);
    expect(terminal.end).toEqual({ exitCode: 0, isRestored: true });
  });
});

describeEngines(
  'top in a terminal',
  (setup) => {
    it.each([
      ['Ctrl-C', ({ press }) => press(KEYS.ctrlC)],
      ['SIGTERM', ({ signal }) => signal('SIGTERM')],
      ['SIGINT', ({ signal }) => signal('SIGINT')],
    ] as [string, (act: { press(keys: string): void; signal(name: NodeJS.Signals): void }) => void][])(
      'leaves it as it was after %s',
      async (_, end) => {
        const world = await withTables(setup);
        const terminal = top(world);

        await terminal.untilScreen(/no queues, .*, q leaves/);
        end({ press: (keys) => terminal.press(keys), signal: (name) => process.kill(terminal.pid, name) });
        await terminal.untilEnd();

        expect(terminal.modes).toEqual(RESTORED);
        expect(terminal.end).toEqual({ exitCode: 0, isRestored: true });
      },
    );

    it('shows as many lines as it has, or all if its size is unknown', async () => {
      const world = await setup();
      const { producer } = await world.start({ autoStart: false });
      for (const queue of ['a', 'b', 'c']) await producer.enqueue(queue, 0);

      const [small, sizeless] = [top(world, { size: [5, 120] }), top(world, { size: null })];
      await small.untilScreen(/\na +1 /);
      await sizeless.untilScreen(/\na +1 .*\nb +1 .*\nc +1 /);

      expect(small.screen.split('\n')).toHaveLength(4);
    });

    it('sorts by the key s, filters by / and holds the screen by p', async () => {
      const world = await setup();
      const { producer } = await world.start({ autoStart: false });
      for (const queue of ['mail.a', 'mail.b', 'mail.b', 'report']) await producer.enqueue(queue, 0);
      const terminal = top(world);
      await terminal.untilScreen(/, by load, s sorts, .*QUEUE .*\nmail\.b +2 .*\nmail\.a +1 /s);

      for (const order of ['oldest', 'dead', 'name']) {
        terminal.press('s');
        await terminal.untilScreen(new RegExp(`, by ${order}, `));
      }
      await terminal.untilScreen(/QUEUE .*\nmail\.a .*\nmail\.b .*\nreport /s);
      terminal.press('/');
      await terminal.untilScreen(/, \/_, Enter keeps the filter, Esc clears it, q leaves/);
      terminal.press('requ');
      await terminal.untilScreen(/\/requ_, .*\nNo queue has such a name\./s);
      terminal.press('\x7f\x7f');
      await terminal.untilScreen(/\/re_, .*QUEUE .*\nreport +1 [^\n]*$/s);
      terminal.press('\r');
      await terminal.untilScreen(/, \/re, s sorts, /);
      terminal.press('p');
      await terminal.untilScreen(/, paused, /);
      await producer.enqueue('report', 0);
      terminal.press('s');
      await terminal.untilScreen(/, by load, .*, paused, .*\nreport +1 /s);
      terminal.press('p');
      await terminal.untilScreen(/\nreport +2 /);
      terminal.press('\x1b');
      await terminal.untilScreen(/, by load, s sorts, .*\nmail\.b +2 /s);
      terminal.press('q');
      await terminal.untilEnd();

      expect(terminal.modes).toEqual(RESTORED);
    });

    it('shows the attempts per minute, and the important columns at 60 columns', async () => {
      const world = await setup();
      const engine = await world.start({ handlers: { 'report.of.a.very.long.name.that.does.not.fit': () => 1 } });
      await engine.producer.enqueue('report.of.a.very.long.name.that.does.not.fit', 0);
      await engine.events.until('completed');
      // A process saves its metrics when it closes.
      await engine.close();

      const [wide, narrow] = [top(world, { size: [24, 160] }), top(world, { size: [24, 60] })];
      await wide.untilScreen(/QUEUE +WAITING .* PER MIN .* NEXT DUE\n.*not\.fit +0 .* (0\.[5-9]|1\.0) /);
      await narrow.untilScreen(/QUEUE +WAITING +OLDEST +ACTIVE +PER MIN.*\nreport\.of\..*… .*(0\.[5-9]|1\.0)/);

      expect(narrow.screen.split('\n').filter((line) => line.startsWith('report'))).toEqual([
        expect.stringMatching(/^report\.of\..*… .*(0\.[5-9]|1\.0)/),
      ]);
      expect(
        Math.max(
          ...narrow.screen
            .split('\n')
            .slice(2)
            .map(({ length }) => length),
        ),
      ).toBeLessThanOrEqual(60);
    });

    it('colours broken queues, unless NO_COLOR is set', async () => {
      const world = await setup();
      await (await world.start({ autoStart: false })).producer.enqueue('mail', 0);
      const [coloured, plain] = [top(world), top(world, { env: { NO_COLOR: '1' } })];
      for (const terminal of [coloured, plain]) await terminal.untilScreen(/✗ No worker .*\nmail +1 /s);

      for (const text of ['✗ No worker', 'mail ']) expect(coloured.colouredScreen).toContain(`\x1b[31m${text}`);
      expect(plain.colouredScreen).toBe(plain.screen);
    });

    it('shows that a file stays locked, and goes on when it is free', async () => {
      const world = await setup();
      await (await world.start({ autoStart: false })).producer.enqueue('mail', 0);
      const terminal = top(world);
      await terminal.untilScreen(/\nmail +1 /);

      await world.sql('BEGIN IMMEDIATE');
      await terminal.untilScreen(/, q leaves\n\nThe SQLite database stayed locked for 5 s\./);
      await world.sql('COMMIT');
      await terminal.untilScreen(/\nmail +1 /);
    });
  },
  ['sqlite'],
);

describeEngines(
  'top in a terminal',
  (setup) => {
    it('shows that the server rejects connections, and leaves after q', async () => {
      const { world, proxy, dataSource } = await behindProxy(await withTables(setup));
      const terminal = top(world, { dataSource });
      await terminal.untilScreen(/no queues, .*, q leaves/);

      await proxy.close();
      await terminal.untilScreen(/, q leaves\n\nThe database did not do the work: .*ECONNREFUSED/);
      terminal.press('q');
      await terminal.untilEnd();

      expect(terminal.modes).toEqual(RESTORED);
      expect(terminal.end).toEqual({ exitCode: 0, isRestored: true });
    });

    it('leaves after q while the server does not answer', async () => {
      const { world, proxy, dataSource } = await behindProxy(await withTables(setup));
      const terminal = top(world, { dataSource });
      await terminal.untilScreen(/no queues, .*, q leaves/);

      const reads = gate();
      proxy.onStatement(() => (reads.open(), 'held'));
      await reads.opened;
      terminal.press('q');
      await terminal.untilEnd();

      expect(terminal.modes).toEqual(RESTORED);
      expect(terminal.end).toEqual({ exitCode: 0, isRestored: true });
    });
  },
  ['mysql', 'mariadb'],
);
