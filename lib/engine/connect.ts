import type { DataSource } from 'typeorm';
import type { Clock } from '../common/clock.js';
import { logText, type JobLogger } from '../common/logger.js';
import { SqlQueueError, StoreUnavailableError } from '../job/errors.js';
import { classifyError, explainRejection } from '../store/core/classify-error.js';
import { databaseOf } from '../store/databases/index.js';

/** How the engine connects a DataSource of its own. */
export interface ConnectSettings {
  readonly attempts: number;
  readonly delayMs: number;
  /** The option of the DataSource, for messages. */
  readonly option?: string;
  /** Removes secrets from the message of a driver. */
  readonly redact: (message: string) => string;
}

export const CONNECT_ONCE: ConnectSettings = { attempts: 1, delayMs: 0, redact: (text) => text };

/** Initializes the DataSource. Tries again while the database is down, but not after an error that would stay. */
export async function connect(
  dataSource: DataSource,
  { attempts, delayMs, option, redact }: ConnectSettings,
  clock: Clock,
  logger: JobLogger,
): Promise<void> {
  const { options } = dataSource;
  const place = databaseOf(options.type).connection.placeOf(options);
  const problem = `Cannot connect to the database of the queue, ${place}${option ? ` (option \`${option}\`)` : ''}`;
  for (let attempt = 1; ; attempt++) {
    try {
      await dataSource.initialize();
      return;
    } catch (error) {
      const explained = explainRejection(error);
      if (explained instanceof SqlQueueError) throw explained;
      const reason = logText(redact(messageOf(error as Error)));
      const isDown = classifyError(error) !== 'none';
      if (!isDown || attempt >= attempts) {
        const count = isDown && attempts > 1 ? ` after ${attempts} attempts` : '';
        // Without the cause, which may have the password in a property.
        throw new StoreUnavailableError(`${problem}${count}: ${reason}`, 'not-done');
      }
      logger.warn(`${problem}: ${reason}. Attempt ${attempt} of ${attempts}, the next one in ${delayMs / 1_000} s.`);
    }
    await clock.sleep(delayMs);
  }
}

/** Node reports a server that refuses both IPv4 and IPv6 without a message. */
function messageOf({ message, code, errors }: Error & { code?: string; errors?: readonly Error[] }): string {
  return message || errors?.map((each) => each.message).join(', ') || (code ?? 'unknown error');
}
