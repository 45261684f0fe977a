import { createRequire } from 'node:module';
import { now } from '../core/clock.mjs';

// The statements of a claim, in their order: the one that finds the jobs, known by its index and by what it does to the
// rows, and those that write down whose they are now.
const FINDS = /sql_queue_jobs_claim[\s\S]*(FOR UPDATE SKIP LOCKED|RETURNING)/;
const WRITES = /SET state = 'active'|INSERT INTO sql_queue_claims/;
// Statements travel together: a text may be the last of its transaction, and the first as well.
const ENDS = /(?:^|;\n)(COMMIT|ROLLBACK)$/;

/**
 * The application's driver, which the library takes from `connection.driver`, with a stopwatch: how long each claim that
 * found jobs took, in milliseconds, from sending its first statement to the answer to its last; with its commit where that
 * travels along with the last.
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
    const answered = rest.pop();
    const text = options.sql ?? options;
    watch.sent(text);
    return query(options, ...rest, (error, rows) => {
      watch.answered(text, hasRows(rows));
      answered(error, rows);
    });
  };
}

/** Of one statement, or of any of several. */
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
  let began;
  let ended;
  return {
    sent(text) {
      if (FINDS.test(text)) began ??= now();
    },
    answered(text, foundJobs) {
      if (FINDS.test(text)) ended = foundJobs ? now() : undefined;
      if (WRITES.test(text) && ended) ended = now();
      const [, end] = ENDS.exec(text) ?? [];
      if (!end) return;
      if (end === 'COMMIT' && ended) claims.push(ended - began);
      began = ended = undefined;
    },
  };
}
