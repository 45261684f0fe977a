import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import { GROUP_KEY_EXPECTED, isGroupKey } from '../job/groups/group-key.js';
import { groupLimitChangeProblems, type GroupLimitChange } from '../job/groups/group-options.js';
import { checkQueueName } from '../job/identifiers.js';
import { checkAndResolve, flag, oneOf, option, whole } from '../job/option-schema.js';
import type { Page } from '../job/page-options.js';
import { snoozeProblem, toDelay, type SnoozeUntil } from '../job/snooze.js';
import type { AuditVerb, Change } from '../store/features/audit/audit-store.js';
import type { GroupCounts, GroupRecord, GroupStatus } from '../store/features/groups/group-store.js';
import type { AdminParts } from './admin-parts.js';
import { refuseManager } from './in-transaction.js';
import { requireQueue, takeCreate, type QueueLimitOptions } from './require-queue.js';

/** Which groups to list. */
export interface GroupPageOptions {
  /** Default: groups in every state. */
  state?: GroupStatus;
  /**
   * Whether to count the jobs of each group: at most 1,000 waiting ones, and those among the first 10,000 scheduled jobs of
   * the queue. Default false.
   */
  counts?: boolean;
  /** The largest number of groups, 1 to 1,000. Default 100. */
  limit?: number;
  /** The `next` of the previous page. Default: the start of the list. */
  after?: string | undefined;
}

/** A page of groups in the order of their names. */
export interface GroupPage extends Page {
  groups: GroupRecord[];
}

const GROUP_KEY = option({
  expected: GROUP_KEY_EXPECTED,
  parse: (value: unknown) => (isGroupKey(value) ? value : undefined),
});

const PAGE = {
  state: option(oneOf('idle', 'ready', 'blocked', 'paused')),
  counts: option(flag, false),
  limit: option(whole(1, 1_000), 100),
  after: GROUP_KEY,
};

const GROUP_IS_LOCKED = 'claims and completions of the group would wait for it until your transaction ends';
const MAX_COUNTS = { waiting: 1_000, scheduled: 10_000 };

/** One group of a queue, in all processes. Calls reject like those of QueueAdmin. */
export class QueueGroup {
  readonly #parts: AdminParts;

  /** @internal `QueueAdmin.group` creates it. */
  constructor(
    parts: AdminParts,
    readonly queue: string,
    readonly group: string,
  ) {
    checkQueueName(queue);
    InvalidOptionsError.throwIfAny('Cannot administer the group', [
      expected(isGroupKey(group), `the group to be ${GROUP_KEY_EXPECTED}`, group),
    ]);
    this.#parts = parts;
  }

  /** The number of its jobs that are not finished, by their state. */
  async counts(): Promise<GroupCounts> {
    const [counts] = await this.#parts.groups.counts(this.queue, [this.group]);
    return counts!;
  }

  /** Starts no further job of the group. Running jobs continue, and other groups are not affected. */
  async pause(options: QueueLimitOptions = {}): Promise<void> {
    refuseManager('Cannot pause the group', options, GROUP_IS_LOCKED);
    await this.#change('group.pause', undefined, options, (change) =>
      this.#parts.groups.setPaused(this.queue, this.group, true, change),
    );
  }

  async resume(options: QueueLimitOptions = {}): Promise<void> {
    refuseManager('Cannot resume the group', options, GROUP_IS_LOCKED);
    await this.#change('group.resume', undefined, options, (change) =>
      this.#parts.groups.setPaused(this.queue, this.group, false, change),
    );
    this.#parts.notifier.wake(this.queue);
  }

  /**
   * Sets the limits and the weight of this group, which hold instead of those in the options of the queue, also after a
   * restart. Options that are not given stay as they are. Null: all are as in the options again. Running jobs continue.
   *
   * @example await admin.group('sync.tenant', 'tenant-42').limit({ concurrency: 5, weight: 3 });
   */
  async limit(change: GroupLimitChange | null, options: QueueLimitOptions = {}): Promise<void> {
    refuseManager('Cannot limit the group', options, GROUP_IS_LOCKED);
    InvalidOptionsError.throwIfAny('Cannot limit the group', groupLimitChangeProblems(change));
    await this.#change('group.limit', change, options, (recorded) =>
      this.#parts.groups.setLimits(this.queue, this.group, change, recorded),
    );
    this.#parts.notifier.wake(this.queue);
  }

  /** No job of the group starts before a date, or for a duration from now. False: the rest ends. */
  async rest(until: SnoozeUntil | false, options: QueueLimitOptions = {}): Promise<void> {
    refuseManager('Cannot let the group rest', options, GROUP_IS_LOCKED);
    if (until !== false) InvalidOptionsError.throwIfAny('Cannot let the group rest', [snoozeProblem(until)]);
    const rest = until === false ? null : toDelay(until, 0);
    await this.#change('group.rest', { until }, options, (change) =>
      this.#parts.groups.rest(this.queue, this.group, rest, change),
    );
    this.#parts.notifier.wake(this.queue);
  }

  async #change(
    verb: AuditVerb,
    recorded: unknown,
    options: QueueLimitOptions,
    act: (change: Change) => Promise<void>,
  ): Promise<void> {
    const { queue, group } = this;
    if (!takeCreate('Cannot administer the group', options).mayCreate) await requireQueue(this.#parts, queue);
    await this.#parts.audit.change({ verb, which: { queue, group }, options: recorded, queue }, act);
  }
}

export async function listGroups({ groups }: AdminParts, queue: string, page: GroupPageOptions): Promise<GroupPage> {
  checkQueueName(queue);
  const { state, limit, counts: counted, after = '' } = checkAndResolve('Cannot list groups', PAGE, page);
  const found = await groups.list({ queue, state, after, limit: limit + 1 });
  const listed = found.slice(0, limit);
  const names = counted ? listed.map(({ group }) => group) : [];
  const counts = names.length > 0 ? await groups.counts(queue, names, MAX_COUNTS) : [];
  const shown = listed.map((group, index) => ({ ...group, ...(counts[index] && { counts: counts[index] }) }));
  return { groups: shown, ...(found.length > limit && { next: listed.at(-1)!.group }) };
}
