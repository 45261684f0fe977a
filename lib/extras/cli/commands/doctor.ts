import { systemClock } from '../../../common/clock.js';
import { QueueSettings } from '../../../engine/queue-settings.js';
import { ACCOUNTS } from '../../../store/doctor/account-privileges.js';
import { diagnose } from '../../../store/diagnose.js';
import type { Diagnosis, DiagnosisLevel } from '../../../job/problems/diagnosis.js';
import { blobFolderProblem } from '../../codecs/file-blobs.js';
import { oneOf, type Command } from '../command.js';
import { existingDataSource } from '../connect.js';
import { CommandFailedError } from '../errors.js';

const SIGNS: Readonly<Record<DiagnosisLevel, string>> = { ok: '✓', note: 'i', problem: '✗', unknown: '?' };

export const doctor: Command = {
  usage: `[--account ${ACCOUNTS.join('|')}] [--blobs FOLDER]`,
  async runUnopened({ target, options, output }) {
    const account = oneOf(`--account to be ${ACCOUNTS.join(', ')}`, ACCOUNTS, options.text('account') ?? 'worker');
    const diagnoses = await diagnose({
      ...{ dataSource: existingDataSource(target), prefix: target.prefix, account, clock: systemClock },
      ...new QueueSettings({}).extremes,
    });
    const folder = options.text('blobs');
    if (folder !== undefined) diagnoses.push(await examineBlobFolder(folder));
    const count = diagnoses.filter(({ level }) => level === 'problem').length;
    output.result({ problems: count, diagnoses }, () => diagnoses.map(lineOf).join('\n'));
    if (count > 0) throw new CommandFailedError(`${count} ${count === 1 ? 'problem' : 'problems'} found.`);
  },
};

async function examineBlobFolder(folder: string): Promise<Diagnosis> {
  const reason = await blobFolderProblem(folder);
  if (reason === undefined) return { check: 'blobs', level: 'ok', facts: `${folder} can be written`, wayOut: null };
  return {
    check: 'blobs',
    level: 'problem',
    facts: `${folder}: ${reason}`,
    wayOut: 'Create it, mount it, or change its owner.',
  };
}

function lineOf({ check, level, facts, wayOut }: Diagnosis): string {
  const line = `${SIGNS[level]} ${check}: ${facts}`;
  return wayOut === null ? line : `${line}\n${wayOut.replace(/^/gm, '    ')}`;
}
