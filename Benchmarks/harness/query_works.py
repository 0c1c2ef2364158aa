"""Works inside one process: scans, boxes, relations, conditions."""

import os
import shutil
import sqlite3

from harness.file_works import COLUMNS, SIZES, gdal, title, tool
from harness.measure import Failure
from harness.work import Bar, Contender, Work, same_figures


def scans(setup):
    for name in SIZES:
        source = setup.path(f"{name}.gpkg")
        batches = {"Fieldpack": Contender([setup.bench, "scan", source, name])}
        lent = {
            "Fieldpack": Contender([setup.bench, "lent", source, name]),
            "C": Contender([setup.limits, "scan", source, name]),
        }
        if setup.gdal:
            batches["GDAL"] = gdal(setup, "arrow", source, name)
            lent["GDAL"] = gdal(setup, "scan", source, name)
        yield Work(
            f"Scan of {title(setup, name)}, batches against GDAL's Arrow", batches,
            [Bar("GDAL", 1.0, 1.5)], figure="seconds", check=same_figures("count"))
        yield Work(
            f"Scan of {title(setup, name)}, lent rows", lent,
            [Bar("GDAL", 1.0, 1.5), Bar("C", 1 / 1.3, 1.0)], figure="seconds",
            check=same_figures("count", "checksum"))


def boxes(setup):
    plain, clustered = setup.path("points.gpkg"), setup.path("clustered.gpkg")
    list_of_boxes = setup.path("boxes-points.txt")
    count = f"{setup.count(10_000):,} boxes of 100 hits"
    yield box_work(
        setup, f"{count}, all columns", "boxes", plain, list_of_boxes,
        [Bar("GDAL", 1.6), Bar("C", 1 / 1.1, 1.0)])
    yield box_work(
        setup, f"{count}, ids only", "ids", plain, list_of_boxes,
        [Bar("GDAL", 8.0, 20.0)], gdal_work="boxes")
    yield box_work(
        setup, f"{count}, clustered rows against GDAL on the plain layer", "boxes", clustered,
        list_of_boxes, [Bar("GDAL", 3.5, 8.0)], gdal_file=plain, skip_c=True, sums=False)
    yield box_work(
        setup, f"{count}, clustered rows, both", "boxes", clustered, list_of_boxes,
        [Bar("GDAL", 1.4)])
    yield box_work(
        setup, "One box with 25 % of the layer", "boxes", plain, setup.path("quarter.txt"),
        [Bar("GDAL", 2.0, 3.0)], figure="seconds")


def box_work(
    setup, heading, work, source, list_of_boxes, bars, gdal_work=None, gdal_file=None,
    skip_c=False, sums=True, figure="p50",
):
    contenders = {"Fieldpack": Contender([setup.bench, work, source, "points", list_of_boxes])}
    if setup.gdal:
        contenders["GDAL"] = gdal(
            setup, gdal_work or work, gdal_file or source, "points", list_of_boxes)
    # The C join stops at the floats of the index, so its hits are a few more.
    if not skip_c:
        contenders["C"] = Contender([setup.limits, work, source, "points", list_of_boxes])

    def check(series):
        exact = {name: runs for name, runs in series.items() if name != "C"}
        same_figures("count", "checksum")(exact) if sums else same_figures("count")(exact)

    return Work(heading, contenders, bars, figure=figure, check=check)


def relations(setup):
    source, star = setup.path("polys.gpkg"), setup.path("star.wkt")
    contenders = {
        "Fieldpack": Contender([setup.bench, "relation", source, "polys", star]),
        "SpatiaLite": Contender([setup.limits, "relation", source, "polys", star]),
    }
    if setup.gdal:
        contenders["GDAL"] = gdal(setup, "relation", source, "polys", star)
    yield Work(
        f"{title(setup, 'polys')} against a polygon of 1,000 vertices, cold", contenders,
        [Bar("GDAL", 1.5, 2.0), Bar("SpatiaLite", 3.5)], figure="seconds",
        check=same_figures("count", "checksum"))
    yield Work(
        "Plain ST_Intersects in SQL against SpatiaLite's join with the R-tree", {
            "Fieldpack": Contender([setup.bench, "sql", source, "polys", star]),
            "SpatiaLite": Contender([setup.limits, "relation", source, "polys", star]),
        },
        [Bar("SpatiaLite", 1.0)], figure="seconds", check=same_figures("count", "checksum"))


def conditions(setup):
    plain, indexed = setup.path("points.gpkg"), setup.path("indexed.gpkg")
    if not os.path.exists(indexed):
        shutil.copyfile(plain, indexed)
        database = sqlite3.connect(indexed)
        database.execute("CREATE INDEX points_num ON points (num)")
        database.commit()
        database.close()
    range_of_numbers = "num BETWEEN 1000 AND 1999"
    text = "name LIKE 'maple%' AND flag = TRUE"
    for heading, source, ours, theirs, c in [
        ("without an index", plain, range_of_numbers, range_of_numbers, range_of_numbers),
        ("with an index", indexed, range_of_numbers, range_of_numbers, range_of_numbers),
        ("text and boolean", plain, text, "name LIKE 'maple%' AND flag = 1",
         "name LIKE 'maple%' AND flag = 1"),
    ]:
        contenders = {
            "Fieldpack": Contender([setup.bench, "where", source, "points", ours]),
            "sqlite3": Contender([setup.limits, "where", source, "points", c]),
        }
        if setup.gdal:
            contenders["GDAL"] = gdal(setup, "where", source, "points", theirs)
        yield Work(
            f"Attribute condition on {title(setup, 'points')}, {heading}", contenders,
            [Bar("GDAL", 1.0), Bar("sqlite3", 1.0)], figure="seconds",
            check=same_figures("count", "checksum"))


def statistics(setup):
    """Statistics of all columns, as whole processes. DuckDB reads the same file."""
    source = setup.path("points.gpkg")
    contenders = {
        "Fieldpack": Contender(tool(setup, "info", source, "points", "--stats", "--json"))
    }
    bars = []
    if setup.gdal:
        driver = os.path.join(setup.benchmarks, "peers/duckdb_summarize.py")
        contenders["DuckDB"] = Contender(
            [setup.python, driver, source, "points", *COLUMNS["points"]])
        bars.append(Bar("DuckDB", 1.0))

    def check(series):
        layer = series["Fieldpack"].figures["stores"][0]["layers"][0]
        counts = {layer["statistics"]["count"], layer["count"]}
        if "DuckDB" in series:
            counts.add(series["DuckDB"].figures["count"])
        if len(counts) != 1:
            raise Failure(f"the results differ: {counts}")

    yield Work(
        f"Statistics of all columns of {title(setup, 'points')}", contenders, bars, check=check)
