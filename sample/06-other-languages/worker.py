"""Counts the words of the texts in queue `text.count` and enqueues each result for a Nest handler.

    python3 worker.py queue.sqlite [number of jobs after which it ends]
"""

import sys
import time

from sql_queue import LeaseLost, Queue

path = sys.argv[1]
max_jobs = int(sys.argv[2]) if len(sys.argv) > 2 else None
texts = Queue(path, "text.count")
reports = Queue(path, "report.write")

done = 0
while max_jobs is None or done < max_jobs:
    job = texts.claim(lease_ms=30_000)
    if job is None:
        time.sleep(0.2)
        continue
    done += 1
    try:
        # A job that takes longer than a third of its lease must call texts.heartbeat(job).
        words = len(job.payload["text"].split())
        reports.enqueue({"of": job.id, "words": words}, headers={"from": "python"})
        texts.complete(job, {"words": words})
        print(f"python: job {job.id} has {words} words", flush=True)
    except LeaseLost as lost:
        print(f"python: the lease of {lost} is lost", flush=True)
    except Exception as error:
        texts.fail(job, error, delay_ms=1_000)
        print(f"python: job {job.id} failed: {error!r}", flush=True)
