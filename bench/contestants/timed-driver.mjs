import { createRequire } from 'node:module';
import { now } from '../core/clock.mjs';

// The statements of a claim in their order: the one that finds jobs, recognized by its index and its lock, and those
// that mark the jobs and write the claim.
const FINDS = /sql_queue_jobs_queue[\s\S]*(FOR UPDATE SKIP LOCKED|RETURNING)/;
const WRITES = /SET state = 'active'|INSERT INTO sql_queue_claims/;
// A text can have several statements: it may be the first and the last of its transaction.
const ENDS = /(?:^|;\n)(COMMIT|ROLLBACK)$/;

/**
 * The driver for `connection.driver`, with a stopwatch. `claims` has the milliseconds of each claim that found jobs,
 * from its first statement to its last answer. They include the commit if it is sent with the last statement.
 */
export async function timedDriver(url) {
  const claims = [];
  const driver = new URL(url).protocol === 'sqlite:' ? timedSqlite(claims) : await timedMysql(claims);
  return { driver, claims };
}

async function timedMysql(claims) {
  const { default: mysql2 } = await import('mysql2');
  const createPool = (options) => mysql2.createPool(options).on('connection', (connection) => time(connection, claims));
  return { ...mysql2, createPool };
}

function time(connection, claims) {
  const watch = stopwatch(claims);
  const query = connection.query.bind(connection);
  connection.query = (options, ...rest) => {
    const callback = rest.pop();
    const text = options.sql ?? options;
    watch.sent(text);
    return query(options, ...rest, (error, rows) => {
      watch.answered(text, hasRows(rows));
      callback(error, rows);
    });
  };
}

/** Whether a statement, or one of several in a text, returned rows. */
function hasRows(answer) {
  if (!Array.isArray(answer)) return false;
  return answer.some((one) => (Array.isArray(one) ? one.length > 0 : !('affectedRows' in one)));
}

function timedSqlite(claims) {
  const Database = createRequire(import.meta.url)('better-sqlite3');
  const watch = stopwatch(claims);
  return class TimedDatabase extends Database {
    exec(text) {
      watch.sent(text);
      const answer = super.exec(text);
      watch.answered(text, false);
      return answer;
    }

    prepare(text) {
      const statement = super.prepare(text);
      if (FINDS.test(text) || WRITES.test(text)) timeStatement(statement, text, watch);
      return statement;
    }
  };
}

function timeStatement(statement, text, watch) {
  for (const method of ['all', 'run']) {
    const original = statement[method].bind(statement);
    statement[method] = (...values) => {
      watch.sent(text);
      const answer = original(...values);
      watch.answered(text, answer.length > 0);
      return answer;
    };
  }
}

function stopwatch(claims) {
  let startedAt;
  let endedAt;
  return {
    sent(text) {
      if (FINDS.test(text)) startedAt ??= now();
    },
    answered(text, foundJobs) {
      if (FINDS.test(text)) endedAt = foundJobs ? now() : undefined;
      if (WRITES.test(text) && endedAt) endedAt = now();
      const [, end] = ENDS.exec(text) ?? [];
      if (!end) return;
      if (end === 'COMMIT' && endedAt) claims.push(endedAt - startedAt);
      startedAt = endedAt = undefined;
    },
  };
}
