"""The jobs of a server: what is in the list will be done, and the list does not grow without end."""

from __future__ import annotations

import threading

import pytest
from tornado.web import HTTPError

from jupyter_memory.server.jobs import Jobs
from jupyter_memory.server.thread_pool import Pool, Ticket
from jupyter_memory.types import IndexReport


def silent(told):
    """Nobody listens."""


@pytest.fixture
def pool():
    """A pool with one thread and one place in its line."""
    pool = Pool(1, waiting=1)
    yield pool
    pool.close(wait=60)


def test_a_job_that_finds_no_place_is_not_listed(pool):
    """ClientError, a job leaves nothing behind that would wait for ever; asked for again later, it is done."""
    go_on, began = threading.Event(), threading.Event()
    jobs = Jobs(pool, lambda job, progress: IndexReport(), silent, silent)
    pool.put(Ticket(lambda: (began.set(), go_on.wait(60))))
    assert began.wait(60)
    first = jobs.add("/λ/first", None)
    with pytest.raises(HTTPError) as refused:
        jobs.add("/λ/second", None)
    assert refused.value.status_code == 503
    assert [job["path"] for job in jobs.listed()] == ["/λ/first"]

    go_on.set()
    pool.close(wait=60)
    assert first.state == "done"


def test_a_job_keeps_the_first_of_many_files_that_failed(pool):
    """Of thousands of files, five hundred are named and the rest counted: the list is sent again and again."""
    failed = tuple((f"/λ/{number}.ipynb", "not JSON") for number in range(2_345))
    jobs = Jobs(pool, lambda job, progress: IndexReport(files=1, failed=failed, skipped=failed[:500]), silent, silent)
    job = jobs.add("/λ", None)
    pool.close(wait=60)
    assert (len(job.failed), len(job.skipped)) == (501, 500)
    [listed] = jobs.listed()
    assert listed["failed"][499:] == [["/λ/499.ipynb", "not JSON"], ["…", "and 1,845 more files"]]
    assert "2,345 failed" in listed["summary"]


def test_only_the_last_jobs_that_are_over_are_listed():
    """A server that runs for weeks lists twenty jobs, and those that are not over."""
    pool = Pool(1)
    jobs = Jobs(pool, lambda job, progress: IndexReport(), silent, silent)
    for number in range(30):
        done = jobs.add(f"/λ/{number}", None)
        while not done.is_over:
            threading.Event().wait(0.001)
    pool.close(wait=60)
    assert [job["path"] for job in jobs.listed()] == [f"/λ/{number}" for number in range(29, 8, -1)]
