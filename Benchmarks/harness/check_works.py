"""Whether geometries are valid: 'check --geometry' against GDAL's and shapely's."""

import os
import shutil
import sqlite3

from harness.digest import ENVELOPE_BYTES
from harness.file_works import gdal, title
from harness.measure import Failure
from harness.work import Bar, Contender, Work

# What the tool ends with where it finds errors.
FOUND_ERRORS = 65
EVERY = 100


def checks(setup):
    """Fieldpack reads the rest of the file, too; GEOS decides with all of them."""
    source = setup.path("crossed.gpkg")
    if not os.path.exists(source):
        make_crossed(setup.path("polys.gpkg"), source)
    contenders = {
        "Fieldpack": Contender(
            [setup.tool, "check", "--geometry", "--json", "--quiet", source],
            status=FOUND_ERRORS)
    }
    if setup.gdal:
        out = setup.out("theirs.gpkg")
        contenders["GDAL"] = gdal(setup, "check", out, source, makes=[out])
        driver = os.path.join(setup.benchmarks, "peers/validity.py")
        contenders["shapely"] = Contender([setup.python, driver, source, "polys"])

    def check(series):
        wanted = -(-setup.count(200_000) // EVERY)
        found = {
            # Fieldpack's document tells errors, which are these geometries.
            name: runs.figures.get("error_count", runs.figures.get("count"))
            for name, runs in series.items()
        }
        if set(found.values()) != {wanted}:
            raise Failure(f"of {wanted} polygons that cross themselves were found: {found}")

    yield Work(
        f"Validity of {title(setup, 'polys')}", contenders,
        [Bar("GDAL", 2.0, 2.5), Bar("shapely", 2.0, 2.5)], check=check)


def make_crossed(source, target):
    """A copy in which every hundredth polygon crosses itself: two of its vertices are swapped, so
    its box, its index entry and the extent are as before."""
    shutil.copyfile(source, target)
    database = sqlite3.connect(target)
    triggers = database.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'polys'"
    ).fetchall()
    for name, _ in triggers:
        database.execute(f'DROP TRIGGER "{name}"')
    database.create_function("crossed", 1, crossed, deterministic=True)
    database.execute(f"UPDATE polys SET geom = crossed(geom) WHERE rowid % {EVERY} = 1")
    for _, sql in triggers:
        database.execute(sql)
    database.commit()
    database.close()


def crossed(blob):
    """Swaps the second position of a ring with the one on its other side."""
    # The header, then byte order, type, and the counts of rings and of positions.
    start = 8 + ENVELOPE_BYTES[blob[3] >> 1 & 7] + 13
    a, b = start + 16, start + (len(blob) - start) // 32 * 16
    return blob[:a] + blob[b:b + 16] + blob[a + 16:b] + blob[a:a + 16] + blob[b + 16:]
