import { setTimeout } from 'node:timers/promises';
import type { NewSchedule } from '../../lib/job/schedules/schedule.js';
import { describeEngines, type World } from '../support/engines.js';
import { cutOneConnection } from '../support/cut-connection.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';
import type { ProgramProcess } from '../support/programs.js';
import { newSchedule } from '../support/schedules.js';
import { newJob } from '../support/jobs.js';
import { mainly } from '../support/servers.js';

const SECONDS = Number(process.env.SCHEDULES_SECONDS ?? 20);
const EVERY_MS = 250;
const PROCESSES = 8;

interface Tick {
  readonly name: string;
  readonly at: number;
}

describeEngines(
  'schedules',
  (setup) => {
    it('have one job for each tick while processes are killed and connections are cut', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const declared: NewSchedule[] = Array.from({ length: 40 }, (_, n) =>
        newSchedule({ name: `s${n}`, everyMs: EVERY_MS, job: newJob({ payload: '{}' }) }),
      );
      const start = () => processes.worker({ queue: { lease: '2s' }, declaredSchedules: declared });
      const workers: ProgramProcess[] = await Promise.all(Array.from({ length: PROCESSES }, start));

      const endsAt = Date.now() + SECONDS * 1_000;
      for (let faults = 0; Date.now() < endsAt; faults++) {
        await setTimeout(150 + Math.random() * 300);
        if (faults % 2) await cutOneConnection(world);
        else await processes.replaceOne(workers, start);
      }
      await Promise.all(workers.map((worker) => worker.stop()));
      // Runs the jobs of the last ticks and of killed workers, without further ticks.
      const last = await processes.worker({ queue: { lease: '2s' } });
      await eventually(async () => (await world.sql('SELECT id FROM sql_queue_jobs LIMIT 1')).length === 0);
      await last.stop();

      const ticks = await ticksOf(world);
      const problems = declared.flatMap(({ name }) => problemsOf(ticks.filter((tick) => tick.name === name)));
      expect(problems).toEqual([]);
      expect(ticks.length).toBeGreaterThan((declared.length * SECONDS * 1_000) / EVERY_MS / 2);
      expect(await processes.violations()).toEqual([]);
    });
  },
  mainly('mysql'),
);

/** Ticks that are missing between the first and the last one, and ticks with two jobs. */
function problemsOf(ticks: readonly Tick[]): string[] {
  const times = ticks.map(({ at }) => at).sort((a, b) => a - b);
  return times.slice(1).flatMap((at, index) => {
    const stepMs = at - times[index]!;
    if (stepMs === EVERY_MS) return [];
    return `${ticks[0]!.name}: ${stepMs === 0 ? 'two jobs' : `no job for ${stepMs} ms`} before ${at}`;
  });
}

async function ticksOf({ sql }: World): Promise<Tick[]> {
  const jobs = await sql<{ options: string }>(
    'SELECT options FROM sql_queue_jobs UNION ALL SELECT options FROM sql_queue_history',
  );
  return jobs.map(({ options }) => (JSON.parse(options) as { schedule: Tick }).schedule);
}
