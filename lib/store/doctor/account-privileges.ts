import { TABLES, type Tables } from '../tables/table-names.js';

/** The kinds of accounts in docs/guides/security.md. */
export const ACCOUNTS = ['producer', 'asker', 'worker', 'migrator', 'reader'] as const;
export type Account = (typeof ACCOUNTS)[number];

export const TABLE_PRIVILEGES = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
export type TablePrivilege = (typeof TABLE_PRIVILEGES)[number];

export interface AccountPrivileges {
  readonly tables: Partial<Readonly<Record<keyof Tables, readonly TablePrivilege[]>>>;
  /** Privileges on the database. */
  readonly database: readonly string[];
}

const ALL = TABLE_PRIVILEGES;
const NO_UPDATE = ['SELECT', 'INSERT', 'DELETE'] as const;

/** The privileges that each kind of account needs. A test compares them to the statements of the guide. */
export const ACCOUNT_PRIVILEGES: Readonly<Record<Account, AccountPrivileges>> = {
  producer: {
    tables: {
      jobs: ['SELECT', 'INSERT', 'UPDATE'],
      commit_log: ALL,
      subscriptions: ['SELECT'],
      keys: ['SELECT', 'INSERT', 'UPDATE'],
      stages: ['SELECT', 'DELETE'],
      workers: ['SELECT'],
      queues: ['SELECT'],
      claims: ['SELECT'],
      history: ['SELECT'],
      events: ['INSERT'],
      flows: ['INSERT'],
      edges: NO_UPDATE,
      subjects: ALL,
      steps: ['SELECT', 'DELETE'],
      signals: ['SELECT', 'INSERT', 'UPDATE'],
      progress: ['SELECT', 'DELETE'],
      logs: ['SELECT', 'DELETE'],
      schema: ['SELECT'],
    },
    database: [],
  },
  asker: {
    tables: {
      jobs: ALL,
      commit_log: ALL,
      claims: ['SELECT', 'UPDATE'],
      history: NO_UPDATE,
      workers: ['SELECT'],
      queues: ['SELECT'],
      stages: ['SELECT', 'DELETE'],
      waits: NO_UPDATE,
      steps: ['SELECT'],
      signals: ['SELECT', 'INSERT', 'UPDATE'],
      progress: ['SELECT', 'DELETE'],
      logs: ['SELECT', 'DELETE'],
      events: ['SELECT', 'INSERT'],
      schema: ['SELECT'],
    },
    database: [],
  },
  worker: {
    tables: {
      ...onEachTable(ALL),
      logs: NO_UPDATE,
      events: NO_UPDATE,
      locks: NO_UPDATE,
      audit: NO_UPDATE,
      stats: ['SELECT', 'INSERT', 'UPDATE'],
      schema: ['SELECT'],
    },
    database: [],
  },
  migrator: { tables: onEachTable(ALL), database: ['CREATE', 'ALTER', 'INDEX'] },
  reader: { tables: onEachTable(['SELECT']), database: [] },
};

function onEachTable(privileges: readonly TablePrivilege[]): AccountPrivileges['tables'] {
  return Object.fromEntries(TABLES.map((table) => [table, privileges]));
}
