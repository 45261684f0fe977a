import { InvalidOptionsError } from '../job/errors.js';
import { NAME_EXPECTED, isName } from '../job/identifiers.js';
import { kind, oneOf, option, optionProblems, type SchemaOf } from '../job/option-schema.js';
import { requireOptions } from '../job/expectation.js';
import { pageOf, resolvePage, type Page, type PageOptions } from '../job/page-options.js';
import { AUDIT_VERBS, type AuditFilter, type AuditRecord } from '../store/features/audit/audit-store.js';
import type { AdminParts } from './admin-parts.js';

/** A page of the audit, by the times of the changes. */
export interface AuditPage extends Page {
  entries: AuditRecord[];
}

const FILTER = {
  by: option(kind('the name of an administrator', (value): value is string => typeof value === 'string')),
  verb: option(oneOf(...AUDIT_VERBS)),
  queue: option(kind(`a queue: ${NAME_EXPECTED}`, isName)),
} satisfies SchemaOf<AuditFilter>;

export async function listAudit(
  { auditEntries }: AdminParts,
  filter: AuditFilter,
  page: PageOptions,
): Promise<AuditPage> {
  const where = 'Cannot list the audit';
  InvalidOptionsError.throwIfAny(where, optionProblems(FILTER, requireOptions(where, filter)));
  const request = resolvePage(where, page, 'audit');
  return pageOf(await auditEntries.list(filter, request), 'audit', request);
}
