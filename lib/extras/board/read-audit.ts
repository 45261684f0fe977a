import { isOptions } from '../../job/expectation.js';
import type { AuditFilter, AuditRecord } from '../../store/features/audit/audit-store.js';
import type { BoardCall } from './board-call.js';

/** The changes of administrators. Those of several queues are for viewers who may read without a queue. */
export async function readAudit({ admin, access, input, redactor }: BoardCall) {
  const filter = input.given('queue', 'by', 'verb') as AuditFilter;
  if (filter.queue !== undefined) await access.require('read', filter.queue);
  const { entries, next } = await admin.audit(filter, { order: 'newest', ...input.page() });
  const shown = await access.filter(entries);
  const withDetails = shown.map(async (entry) => {
    const { which, options } = details(entry, redactor);
    return { ...entry, which, options: await withoutHiddenQueue(options, access) };
  });
  return { entries: await Promise.all(withDetails), next: next ?? null };
}

/** A retry names the queue that it moves jobs to. */
async function withoutHiddenQueue(options: unknown, access: BoardCall['access']): Promise<unknown> {
  if (!isOptions(options) || !('to' in options)) return options;
  const { to, ...others } = options;
  return typeof to === 'string' && (await access.allows('read', to)) ? options : others;
}

/** Filters may have values of headers. */
function details({ which, options, queue }: AuditRecord, redactor: BoardCall['redactor']) {
  const context = { queue: queue ?? '', name: '', what: 'audit' } as const;
  return { which: redactor.redact(which, context), options: redactor.redact(options, context) };
}
