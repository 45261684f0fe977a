import { SqlQueueError } from './sql-queue-error.js';

/** No schedule has the name. Nothing was changed. */
export class ScheduleNotFoundError extends SqlQueueError {
  readonly code = 'SCHEDULE_NOT_FOUND';

  constructor(readonly schedule: string) {
    super(`There is no schedule "${schedule}": it was removed, or no process has declared or stored it.`);
  }
}

/** Code and QueueSchedules use the same names. Nothing was changed. */
export class ScheduleConflictError extends SqlQueueError {
  readonly code = 'SCHEDULE_CONFLICT';

  /** @param owner the source of the stored schedules */
  constructor(
    readonly schedules: readonly string[],
    readonly owner: 'code' | 'api',
  ) {
    const names = schedules.map((name) => `"${name}"`).join(', ');
    super(
      owner === 'code'
        ? `Expected a schedule of QueueSchedules, got ${names}, which @Schedule() declares. Change the code, or pause() it.`
        : `Expected names of @Schedule() that QueueSchedules has not stored, got ${names}. Rename the schedules in the ` +
            `code, or remove() the stored ones.`,
    );
  }
}
