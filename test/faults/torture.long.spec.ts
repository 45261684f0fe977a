import { OwnCluster, type ClusterName } from '../support/own-cluster.js';
import { OwnServer } from '../support/own-server.js';
import { servers, type ServerName } from '../support/servers.js';
import { FAULTS } from '../support/torture/faults.js';
import type { ClaimStrategy } from '../../lib/job/claim-strategy.js';
import { GROUPED_QUEUE, LIMITED_QUEUE } from '../support/torture/torture-job.js';
import { torture, type TortureReport, type TortureSettings } from '../support/torture/torture.js';

// Longer runs start by hand: npm run torture.
const long = process.env.SQL_QUEUE_TORTURE;
const { seconds, seed, cluster, faults } = JSON.parse(long ?? '{ "seconds": 18, "seed": 1 }') as {
  seconds: number;
  seed: number;
  cluster?: ClusterName;
  faults?: string[];
};
// On a cluster, these faults would affect one node only.
const OF_ONE_SERVER = ['disk full', 'too many connections', 'read-only'];
// Longer than a whole short run.
const OF_LONG_ONES = ['event loop blocked for a minute'];
const usual = Object.keys(FAULTS).filter((fault) => long || !OF_LONG_ONES.includes(fault));
// The first strategy gets twice as many jobs. `lock` is missing if each node knows only its own row locks.
const NODES_CLAIM: ClaimStrategy[] = ['skip-locked', 'skip-locked', 'update', 'optimistic'];
const ONE_CLAIMS: ClaimStrategy[] = [...NODES_CLAIM, 'lock'];
const single = servers.map(({ name }) => name).filter((name) => name !== 'sqlite');

describe.each<ServerName | ClusterName>(cluster ? [cluster] : single)(
  'workers and producers on %s, under all faults,',
  (name) => {
    const cleanups: (() => Promise<void>)[] = [];
    afterAll(() => cleanups.pop()?.());

    it(
      'lose no job, complete no job twice, and recover without help',
      async () => {
        const site = cluster ? await ofCluster(cluster) : await ofServer(name as 'mysql' | 'mariadb');
        const say = (line: string) => void (long && process.stderr.write(`  ${line}\n`));
        // On a busy machine a worker needs some seconds to show whether it lost jobs without a reason.
        const pace = long ? { pauseMs: 5, faultFreeMs: 10_000 } : { pauseMs: 20, faultFreeMs: 1_000 };
        const report = await torture({ ...site, ...pace, seconds, seed, log: say });
        if (long) printReport(name, report);

        expect(report.violations).toEqual([]);
        expect(report.jobs['completed']).toBeGreaterThan(100);
        expect(Object.keys(report.completed).sort()).toEqual(
          [...new Set([...site.strategies, GROUPED_QUEUE, LIMITED_QUEUE])].sort(),
        );
      },
      (seconds + 300) * 1_000,
    );

    async function ofServer(kind: 'mysql' | 'mariadb'): Promise<Site> {
      const own = await OwnServer.start(kind);
      cleanups.push(() => own.end());
      const restart = () => own.restart('SIGKILL');
      return {
        urls: [own.server.url],
        isMariadb: kind === 'mariadb',
        restart,
        strategies: ONE_CLAIMS,
        faults: faults ?? usual,
      };
    }

    async function ofCluster(kind: ClusterName): Promise<Site> {
      const own = await OwnCluster.start(kind);
      cleanups.push(() => own.end());
      const restart = async (node: number) => {
        await own.kill(node);
        await own.restartNodes();
      };
      const possible = usual.filter((fault) => !OF_ONE_SERVER.includes(fault));
      // Group Replication has one primary, so all writes go to one node.
      const strategies = kind === 'galera' ? NODES_CLAIM : ONE_CLAIMS;
      return { urls: own.urls, isMariadb: kind === 'galera', restart, strategies, faults: faults ?? possible };
    }
  },
);

type Site = Pick<TortureSettings, 'urls' | 'isMariadb' | 'restart' | 'strategies' | 'faults'>;

function printReport(server: string, { jobs, completed, faults, violations }: TortureReport): void {
  const states = Object.entries(jobs).map(([state, count]) => `${count} ${state}`);
  process.stderr.write(`\n${server}, ${seconds} s, seed ${seed}: ${violations.length} violations\n`);
  process.stderr.write(`  jobs: ${states.join(', ')}\n`);
  const claimed = Object.entries(completed).map(([strategy, count]) => `${count} by ${strategy}`);
  process.stderr.write(`  completed: ${claimed.join(', ')}\n`);
  for (const [fault, { times, slowestMs }] of Object.entries(faults)) {
    process.stderr.write(`  ${fault}: ${times} times, jobs completed again within ${slowestMs} ms\n`);
  }
}
