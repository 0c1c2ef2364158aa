"""Change logs: edits against the same triggers in C, and what is pending against sqlite3."""

import os
import shutil
import sqlite3

from harness.file_works import title, tool
from harness.measure import Failure, run
from harness.work import Bar, Contender, Work


def logs(setup):
    source = setup.path("logged.gpkg")
    if not os.path.exists(source):
        shutil.copyfile(setup.path("points.gpkg"), source)
        run(tool(setup, "log", "enable", f"{source}:points"))
    yield edits(setup, source)
    yield pending(setup, source)


def edits(setup, source):
    """Each edit is the first of its feature, so the row as it was is logged, too."""
    count = setup.count(100_000)
    ours, theirs = setup.out("ours.gpkg"), setup.out("theirs.gpkg")
    contenders = {
        "Fieldpack": Contender(
            [setup.bench, "edits", ours, "points", str(count)], copies=[(source, ours)]),
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


def pending(setup, source):
    """The first edits that are not sent, behind nine times as many that are, as whole processes."""
    path = setup.path("pending.gpkg")
    if not os.path.exists(path):
        shutil.copyfile(source, path)
        fill(path)
    query = (
        "SELECT audit_id, edit_id, fid, audit_op, audit_timestamp, author, device, sent, received "
        "FROM points_audit WHERE sent IS NULL ORDER BY audit_id LIMIT 1000")
    contenders = {
        "Fieldpack": Contender(
            tool(setup, "log", "list", f"{path}:points", "--pending", "--limit", "1000", "--json")),
        "sqlite3": Contender(["sqlite3", "-readonly", "-json", path, query]),
    }
    return Work(
        f"The first 1,000 pending of {title(setup, 'points').replace('points', 'edits')}",
        contenders, [Bar("sqlite3", 1 / 1.5)])


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
