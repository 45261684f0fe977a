import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PROBLEM_LIMITS, PROBLEM_RULES } from '../../lib/job/problems/queue-problem.js';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** No metric has their conditions. */
const WITHOUT_ALERT = ['lapsed-claims', 'schedule-late', 'groups-blocked', 'silent-worker'];

const alerts = read('prom/alerts.yml')
  .split('- alert: ')
  .slice(1)
  .map((text) => ({ text, name: /^\w+/.exec(text)![0], rule: /rule: ([a-z-]+) }/.exec(text)?.[1] }));

const textOf = (rule: string) => alerts.find((one) => one.rule === rule)!.text;

describe('the alerts of Prometheus', () => {
  it('name each rule of a problem, except those that no metric shows', () => {
    const named = alerts.flatMap(({ rule }) => rule ?? []);

    expect([...named, ...WITHOUT_ALERT].sort()).toEqual([...PROBLEM_RULES].sort());
  });

  it('have the thresholds of the rules', () => {
    const { behindMs, failingShare, failingAttempts, failingMinutes, deadShare, deadMinutes } = PROBLEM_LIMITS;

    expect(textOf('behind')).toContain(`(sql_queue_oldest_waiting_seconds) > ${behindMs / 1_000}\n`);
    expect(textOf('failing')).toContain(`>= ${failingShare}\n`);
    expect(textOf('failing')).toContain(`[${failingMinutes}m])) >= ${failingAttempts}\n`);
    expect(textOf('dead-jobs')).toContain(`[${deadMinutes}m])) > ${deadShare}\n`);
  });

  it('page for the rules that can be broken, and only for these', () => {
    const severityOf = ({ text }: { text: string }) => /severity: (\w+)/.exec(text)![1];

    const paging = alerts.filter((alert) => severityOf(alert) === 'page').map(({ rule }) => rule);

    expect(new Set(paging)).toEqual(new Set(['behind', 'failing', 'no-worker']));
  });

  it('are in the table of the problems, beside their rules', () => {
    const rows = read('docs/problems.md').split('\n');

    for (const rule of PROBLEM_RULES) {
      const alert = alerts.find((one) => one.rule === rule)?.name;
      const row = rows.find((line) => line.startsWith(`| \`${rule}\``)) ?? '';
      expect(row, rule).toContain(alert === undefined ? ' – ' : `\`${alert}\``);
    }
  });
});
