"""The queue of nestjs-sql-queue on SQLite, for Python. It needs only the standard library.

The statements for MySQL and MariaDB are in docs/guides/other-languages.md; any DB-API driver can send them.
"""

import json
import secrets
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Optional

# The database's clock, in milliseconds since 1970. Never use the program's clock.
NOW = "CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)"


@dataclass(frozen=True)
class Job:
    id: int
    name: str
    payload: Any
    headers: dict
    attempt: int
    max_attempts: int
    claim_id: int


class LeaseLost(Exception):
    """Another worker has claimed the job or can claim it: do not write to it any more."""


class Queue:
    def __init__(self, path: str, queue: str, worker: str = "python"):
        # No implicit transactions. Waits up to 5 s for other writers.
        self.db = sqlite3.connect(path, isolation_level=None, timeout=5)
        self.db.row_factory = sqlite3.Row
        self.queue = queue
        self.worker = worker
        # With this row Nest processes promote its delayed jobs and rescue its expired leases.
        self.db.execute(f"INSERT OR IGNORE INTO sql_queue_queues (queue, created_at) VALUES (?, {NOW})", (queue,))

    def enqueue(self, payload: Any, name: str = "default", headers: Optional[dict] = None, delay_ms: int = 0) -> int:
        """Inserts one row per job. With a delay the job is scheduled until a Nest process promotes it."""
        run_at = f"{NOW} + {int(delay_ms)}" if delay_ms > 0 else "NULL"
        cursor = self.db.execute(
            f"INSERT INTO sql_queue_jobs (queue, name, payload, headers, run_at) VALUES (?, ?, ?, ?, {run_at})",
            (self.queue, name, json.dumps(payload), json.dumps(headers) if headers else None),
        )
        return cursor.lastrowid

    def claim(self, lease_ms: int = 30_000, max_attempts: int = 5) -> Optional[Job]:
        """Claims the first waiting job for `lease_ms` milliseconds. Returns None if no job waits."""
        claim_id = secrets.randbelow(2**53 - 1) + 1
        with self._transaction():
            paused = self.db.execute("SELECT paused FROM sql_queue_queues WHERE queue = ?", (self.queue,)).fetchone()
            if paused and paused["paused"]:
                return None
            row = self.db.execute(
                """
                UPDATE sql_queue_jobs
                SET state = 'active', claim_id = ?, attempt = attempt + 1,
                    max_attempts = COALESCE(NULLIF(max_attempts, 0), ?)
                WHERE id = (
                  SELECT id
                  FROM sql_queue_jobs INDEXED BY sql_queue_jobs_queue
                  WHERE queue = ? AND runnable = 1 AND state = 'waiting' AND run_at IS NULL
                  ORDER BY priority, id
                  LIMIT 1
                )
                RETURNING id, name, payload, headers, attempt, max_attempts""",
                (claim_id, max_attempts, self.queue),
            ).fetchone()
            if row is None:
                return None
            self.db.execute(
                f"""
                INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at)
                VALUES (?, ?, ?, ?, 1, ?, {NOW} + ?, {NOW})""",
                (claim_id, self.worker, self.queue, json.dumps([row["id"]]), lease_ms, lease_ms),
            )
        headers = json.loads(row["headers"]) if row["headers"] else {}
        return Job(
            row["id"], row["name"], json.loads(row["payload"]), headers, row["attempt"], row["max_attempts"], claim_id
        )

    def heartbeat(self, job: Job) -> None:
        """Renews the lease. Call it every third of the lease while the job runs."""
        changed = self.db.execute(
            f"UPDATE sql_queue_claims SET lease_until = {NOW} + lease_ms WHERE id = ? AND lease_until > {NOW}",
            (job.claim_id,),
        ).rowcount
        if changed == 0:
            raise LeaseLost(f"job {job.id}")

    def complete(self, job: Job, result: Any = None, keep_ms: int = 86_400_000) -> None:
        with self._transaction():
            self._finish(job, "completed", keep_ms, result=json.dumps(result))

    def fail(self, job: Job, error: Exception, delay_ms: int = 10_000, keep_ms: int = 2_592_000_000) -> None:
        """Retries the job after the delay, or ends it as dead after its last attempt."""
        text = json.dumps({"name": type(error).__name__, "message": str(error)})
        with self._transaction():
            if job.attempt >= job.max_attempts:
                self._finish(job, "dead", keep_ms, error=text)
                return
            self._end_claim(job)
            self._change(
                job,
                f"""
                UPDATE sql_queue_jobs
                SET state = 'scheduled', runnable = 0, run_at = {NOW} + ?, claim_id = 0, error = ?
                WHERE id = ? AND claim_id = ?""",
                (delay_ms, text, job.id, job.claim_id),
            )

    def release(self, job: Job) -> None:
        """Returns the job to waiting without counting the attempt."""
        with self._transaction():
            self._end_claim(job)
            self._change(
                job,
                """
                UPDATE sql_queue_jobs
                SET state = 'waiting', claim_id = 0, attempt = attempt - 1
                WHERE id = ? AND claim_id = ?""",
                (job.id, job.claim_id),
            )

    def _finish(self, job: Job, state: str, keep_ms: int, result: Optional[str] = None, error: Optional[str] = None):
        self.db.execute(
            f"""
            INSERT INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, due_at,
                                           started_at, finished_at, expires_at, payload, headers, options, result, error)
            SELECT j.id, j.queue, j.name, ?, j.priority, j.attempt, j.max_attempts, ?, j.created_at, j.due_at,
                   c.claimed_at, {NOW}, {NOW} + ?, j.payload, j.headers, j.options, ?, ?
            FROM sql_queue_jobs j
            LEFT JOIN sql_queue_claims c ON c.id = j.claim_id
            WHERE j.id = ? AND j.claim_id = ?""",
            (state, self.worker, keep_ms, result, error, job.id, job.claim_id),
        )
        self._end_claim(job)
        self._change(job, "DELETE FROM sql_queue_jobs WHERE id = ? AND claim_id = ?", (job.id, job.claim_id))

    def _end_claim(self, job: Job) -> None:
        self.db.execute("DELETE FROM sql_queue_claims WHERE id = ?", (job.claim_id,))

    def _change(self, job: Job, sql: str, values: tuple) -> None:
        # The fence: the transaction rolls back if this claim does not own the job any more.
        if self.db.execute(sql, values).rowcount != 1:
            raise LeaseLost(f"job {job.id}")

    @contextmanager
    def _transaction(self):
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")
