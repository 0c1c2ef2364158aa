"""Change logs: edits against the same triggers in C, and what is pending against sqlite3."""

import os
import shutil
import sqlite3
import sys

from harness.file_works import title, tool
from harness.measure import Failure, run
from harness.work import Bar, Contender, Work, same_figures


def logs(setup):
    source = setup.path("logged.gpkg")
    if not os.path.exists(source):
        shutil.copyfile(setup.path("points.gpkg"), source)
        run(tool(setup, "log", "enable", f"{source}:points"))
    yield edits(setup, source)
    yield pending(setup, source)


def edits(setup, source):
    """Each edit is the first of its feature, so the row as it was is logged, too.

    Fieldpack runs as its tool does, without SQLite's statistics of memory; C has SQLite as it is."""
    count = setup.count(100_000)
    ours, theirs = setup.out("ours.gpkg"), setup.out("theirs.gpkg")
    contenders = {
        "Fieldpack": Contender(
            [setup.test_subject(), "edits", ours, "points", str(count)], copies=[(source, ours)]),
        "C": Contender(
            [setup.limits, "edits", theirs, "points", str(count)], copies=[(source, theirs)]),
    }

    def check(_):
        found = {logged(ours), logged(theirs)}
        if len(found) != 1:
            raise Failure(f"the logs differ: {found}")

    return Work(
        f"{count:,} logged edits, 1,000 a transaction", contenders, [Bar("C", 1 / 1.1)],
        figure="seconds", check=check)


def logged(path):
    database = sqlite3.connect(path)
    row = database.execute(
        "SELECT count(*), sum(audit_op), sum(num), count(DISTINCT edit_id) FROM points_audit"
    ).fetchone()
    database.close()
    return row


PENDING = """
import json, sqlite3, sys, time
_, path, layer, rounds = sys.argv
database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
count = total = 0
start = time.monotonic()
for _ in range(int(rounds)):
    rows = database.execute(
        f'SELECT * FROM "{layer}_audit" WHERE sent IS NULL AND audit_id > 0 '
        "ORDER BY audit_id LIMIT 1000").fetchall()
    count += len(rows)
    total += sum(row[0] for row in rows)
seconds = time.monotonic() - start
print(json.dumps({"seconds": seconds, "count": count, "checksum": [total]}))
"""


def pending(setup, source):
    """The first edits that are not sent, behind nine times as many that are.

    Each reading prepares its statement and ends with the rows in memory; C only looks at each value.
    """
    path = setup.path("pending.gpkg")
    if not os.path.exists(path):
        shutil.copyfile(source, path)
        fill(path)
    words = [path, "points", "200"]
    contenders = {
        "Fieldpack": Contender([setup.test_subject(), "pending", *words]),
        "sqlite3": Contender([sys.executable, "-c", PENDING, *words]),
        "C": Contender([setup.limits, "pending", *words]),
    }
    return Work(
        f"The first 1,000 pending of {title(setup, 'points').replace('points', 'edits')}",
        contenders, [Bar("sqlite3", 1 / 1.5)], figure="seconds", check=same_figures("count", "checksum"))


def fill(path):
    """Logs a row for each feature; a tenth of them is pending."""
    database = sqlite3.connect(path)
    count = database.execute("SELECT max(fid) FROM points").fetchone()[0]
    columns = "fid, geom, num, val, name, flag, ts"
    database.execute(
        f"INSERT INTO points_audit ({columns}, audit_op, audit_timestamp, edit_id, sent) "
        f"SELECT {columns}, 2, '2026-05-01T09:00:00.000Z', lower(hex(randomblob(16))), "
        f"CASE WHEN fid <= {count * 9 // 10} THEN '2026-05-01T10:00:00.000Z' END FROM points")
    database.commit()
    database.close()
