import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { readSignups } from './signups-file.js';
import { SignupsService } from './signups.service.js';

export interface Imported {
  rows: number;
  signedUp: number;
  alreadySignedUp: number;
  broken: number;
}

/** Signs up the people of a file. It only counts those whom an earlier run or another process has signed up. */
@Injectable()
export class SignupsImport {
  constructor(private readonly signups: SignupsService) {}

  async run(path: string, stopping: AbortSignal): Promise<Imported> {
    const imported = { rows: 0, signedUp: 0, alreadySignedUp: 0, broken: 0 };
    for await (const row of readSignups(path)) {
      if (stopping.aborted) break;
      imported.rows++;
      if ('problem' in row) {
        imported.broken++;
        console.log(`  line ${row.line}: ${row.problem}`);
      } else if (await this.signups.signUp(row.signup)) {
        imported.signedUp++;
      } else {
        imported.alreadySignedUp++;
      }
      // SQLite answers synchronously, so without a pause the loop would block the mails.
      await setImmediate();
    }
    return imported;
  }
}
