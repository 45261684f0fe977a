import { systemClock } from '../../common/clock.js';
import { QueueSettings } from '../../engine/queue-settings.js';
import { ACCOUNTS } from '../../store/doctor/account-privileges.js';
import type { Diagnosis, DiagnosisLevel, DoctorStore } from '../../store/doctor/doctor-store.js';
import { openDoctorStore } from '../../store/open-doctor-store.js';
import { CommandFailedError, oneOf, type Command } from '../command.js';
import { existingDataSource } from '../connect.js';

const SIGNS: Readonly<Record<DiagnosisLevel, string>> = { ok: '✓', note: 'i', problem: '✗', unknown: '?' };

export const doctor: Command = {
  usage: `[--account ${ACCOUNTS.join('|')}]`,
  summary: 'find settings, privileges and sessions of the database that harm the queue; changes nothing',
  options: { account: { type: 'string' } },
  async runUnopened({ target, options, output }) {
    const account = oneOf(`--account to be ${ACCOUNTS.join(', ')}`, ACCOUNTS, options.text('account') ?? 'worker');
    const store = await openDoctorStore({
      ...{ dataSource: existingDataSource(target), prefix: target.prefix, account, clock: systemClock },
      ...new QueueSettings({}).extremes,
    });
    const diagnoses = await examined(store);
    const count = diagnoses.filter(({ level }) => level === 'problem').length;
    output.result({ problems: count, diagnoses }, () => diagnoses.map(lineOf).join('\n'));
    if (count > 0) throw new CommandFailedError(`${count} ${count === 1 ? 'problem' : 'problems'} found.`);
  },
};

async function examined(store: DoctorStore): Promise<Diagnosis[]> {
  try {
    return await store.examine();
  } finally {
    await store.close();
  }
}

function lineOf({ check, level, facts, wayOut }: Diagnosis): string {
  const line = `${SIGNS[level]} ${check}: ${facts}`;
  return wayOut === null ? line : `${line}\n${wayOut.replace(/^/gm, '    ')}`;
}
