import type { JobEventName } from '../../job/queue-event.js';
import {
  bigint,
  filledByDatabase,
  fixedWord,
  generated,
  int,
  label,
  nullable,
  primary,
  shortText,
  tableSchema,
  text,
  tinyint,
  withDefault,
  word,
} from './columns.js';

/** The tables of results, steps, flows, limits, groups and subjects. */
export const featureTables = {
  /** The jobs whose end a process waits for. Empty unless a caller waits for a result. */
  waits: tableSchema({
    entity: 'SqlQueueWait',
    columns: {
      /** The process, as a random number. */
      waiter: primary(bigint('waiter')),
      jobId: primary(bigint('job_id')),
      /** The end of the wait, unless the process renews it. */
      expiresAt: bigint('expires_at'),
    },
    indexes: { expiry: ['expiresAt'], job: ['jobId', 'waiter'] },
  }),

  /** The last progress of jobs that reported any, or that logged lines. Other jobs have no row. */
  progress: tableSchema({
    entity: 'SqlQueueProgress',
    columns: {
      jobId: primary(bigint('job_id')),
      /** JSON; null if the job has only logged lines. */
      value: nullable(text('value')),
      /** Includes the lines that were dropped. */
      linesLogged: int('lines_logged'),
      updatedAt: bigint('updated_at'),
      /** The time of the next check whether the job still exists. */
      expiresAt: bigint('expires_at'),
    },
    indexes: { expiry: ['expiresAt'] },
  }),

  logs: tableSchema({
    entity: 'SqlQueueLog',
    columns: {
      jobId: primary(bigint('job_id')),
      /** Counts the lines of a job from 1. */
      number: primary(int('number')),
      loggedAt: bigint('logged_at'),
      line: text('line'),
    },
  }),

  /** The event outbox: events of jobs in queues with the option `events`, kept for ten minutes. */
  events: tableSchema({
    entity: 'SqlQueueEvent',
    columns: {
      id: generated(bigint('id')),
      event: word<JobEventName>('event', 20),
      queue: word('queue', 100),
      jobId: bigint('job_id'),
      name: word('name', 100),
      attempt: int('attempt'),
      /** The duration of the attempt in milliseconds. */
      ranMs: nullable(bigint('ran_ms')),
      /** The delay until the next attempt in milliseconds. */
      delayMs: nullable(bigint('delay_ms')),
      recordedAt: bigint('recorded_at'),
      /** JSON, like the error. */
      result: nullable(text('result')),
      error: nullable(text('error')),
      /** The owner of an assigned job; null if the job has none. */
      owner: nullable(label('owner', 255)),
    },
  }),

  /** The steps that runs of a job have ended or begun, kept while the job exists. */
  steps: tableSchema({
    entity: 'SqlQueueStep',
    columns: {
      jobId: primary(bigint('job_id')),
      name: primary(word('name', 100)),
      state: word<'done' | 'sleeping' | 'waiting'>('state', 10),
      /** JSON; null if the step has no value. That of a signal stands in a list. */
      result: nullable(text('result')),
      /** The end of a sleep or of a wait. */
      untilAt: nullable(bigint('until_at')),
      /** The signal that the job waits for. */
      signalHash: nullable(word('signal_hash', 64)),
      /** The key of that signal, for people to read. Its name is that of the step. */
      signalKey: nullable(label('signal_key', 255)),
      /** The time of the next check whether the job still exists. */
      expiresAt: bigint('expires_at'),
    },
    indexes: { signal: ['signalHash', 'jobId', 'name'], expiry: ['expiresAt'] },
  }),

  /** The signals of the last 30 days. */
  signals: tableSchema({
    entity: 'SqlQueueSignal',
    columns: {
      /** SHA-256 of the name and the key in hexadecimal digits. */
      hash: primary(word('hash', 64)),
      name: word('name', 100),
      key: label('signal_key', 255),
      /** JSON; null: none. */
      data: nullable(text('data')),
      sentAt: bigint('sent_at'),
      /** 1 if a job has received it. */
      awaited: withDefault(tinyint('awaited'), 0),
    },
    indexes: { sent: ['sentAt'] },
  }),

  flows: tableSchema({
    entity: 'SqlQueueFlow',
    columns: {
      id: generated(bigint('id')),
      createdAt: bigint('created_at'),
      /** The time of the next check whether jobs of the flow still exist. */
      expiresAt: bigint('expires_at'),
    },
    indexes: { expiry: ['expiresAt'] },
  }),

  /** Each row: one job waits for the end of another one. */
  edges: tableSchema({
    entity: 'SqlQueueEdge',
    columns: {
      /** The job that waits. The negative id of the flow for a job for which no other job waits. */
      jobId: primary(bigint('job_id')),
      /** The job that must end before. */
      needs: primary(bigint('needs')),
      /** The queue and the name of `needs`. */
      queue: word('queue', 100),
      name: word('name', 100),
      onFailure: word<'cancel' | 'run' | 'wait'>('on_failure', 10),
      /** The number of the fan-out of the job, from 1; 0: its flow was built with the edge. */
      fanOut: withDefault(int('fan_out'), 0),
      /** `open`: the job waits. `done`: it need not wait any longer. `failed`: it is to be cancelled. */
      state: filledByDatabase(fixedWord<'open' | 'done' | 'failed'>('state', 6), `'open'`),
      /** How `needs` has ended; empty: it has not. */
      outcome: withDefault(fixedWord<'completed' | 'dead' | 'cancelled' | ''>('outcome', 9), ''),
      /** JSON, like the error. */
      result: nullable(text('result')),
      error: nullable(text('error')),
    },
    indexes: { needs: ['needs'] },
  }),

  /** The limits of queues over all processes, and how much of them is used up. A queue without limits needs no row. */
  limits: tableSchema({
    entity: 'SqlQueueLimits',
    columns: {
      queue: primary(word('queue', 100)),
      /** JSON: the limits from the options of the last process that declared others; null: none. */
      declared: nullable(text('declared')),
      /** JSON: the limits that `QueueAdmin.limit` has set instead; null: none. */
      overrides: nullable(text('overrides')),
      /** The time up to which jobs have used the rate; of a fixed window its end. In microseconds. */
      rateUntilUs: withDefault(bigint('rate_until_us'), 0),
      /** The jobs that have started in the fixed window. */
      rateUsed: withDefault(int('rate_used'), 0),
      /** No job starts before this time. */
      restUntil: withDefault(bigint('rest_until'), 0),
      /** The length of that rest; 0: until a date. */
      restMs: withDefault(bigint('rest_ms'), 0),
      /** Changes with each claim within the limits, so that claims on two nodes of a cluster conflict. */
      claimCount: withDefault(bigint('claim_count'), 0),
    },
  }),

  /** The groups of queues, except those that were idle for an hour. */
  groups: tableSchema({
    entity: 'SqlQueueGroup',
    columns: {
      queue: primary(word('queue', 100)),
      groupKey: primary(label('group_key', 100)),
      /** `idle`: no job waits. `ready`: in the rotation. `blocked`: at a limit, until `turn` or until a job ends. */
      state: word<'idle' | 'ready' | 'blocked' | 'paused'>('state', 10),
      /** The time of the last turn, or of the next examination of a blocked group. */
      turn: bigint('turn'),
      /** No job waits in the group up to this priority and id. */
      headPriority: int('head_priority'),
      headId: bigint('head_id'),
      /** JSON: the jobs that count against the limit of the group. Some of them may have ended. Null: not known. */
      activeIds: nullable(text('active_ids')),
      /** JSON: the limits and the weight that `QueueAdmin.group` has set; null: none. */
      overrides: nullable(text('overrides')),
      /** The time up to which jobs have used the rate; of a fixed window its end. In microseconds. */
      rateUntilUs: withDefault(bigint('rate_until_us'), 0),
      /** The jobs that have started in the fixed window. */
      rateUsed: withDefault(int('rate_used'), 0),
      /** No job starts before this time. */
      restUntil: withDefault(bigint('rest_until'), 0),
      /** The length of that rest; 0: until a date. */
      restMs: withDefault(bigint('rest_ms'), 0),
    },
    indexes: { turn: ['queue', 'state', 'turn', 'groupKey'] },
  }),

  /** The jobs with the option `subject`, kept as long as the job, its history or its archive. */
  subjects: tableSchema({
    entity: 'SqlQueueSubject',
    columns: {
      subject: primary(label('subject', 255)),
      jobId: primary(bigint('job_id')),
      /** The time of the next check whether the job still exists. */
      expiresAt: bigint('expires_at'),
      /** JSON: the references to the blobs of the job, by key. They outlive its row. */
      blobs: nullable(shortText('blobs')),
    },
    indexes: { expiry: ['expiresAt'] },
  }),
};
