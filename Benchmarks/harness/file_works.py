"""Works from file to file: import, append, export, transformation, index."""

import os

from harness import digest
from harness.measure import Failure, run
from harness.work import Bar, Contender, Work, remove, same_figures

COLUMNS = {
    "points": ["num", "val", "name", "flag", "ts"],
    "polys": ["pid", "class", "area"],
    "lines": ["tid", "name", "start"],
}
TITLES = {"points": "{:,} points", "polys": "{:,} polygons", "lines": "{:,} lines"}
SIZES = {"points": 1_000_000, "polys": 200_000, "lines": 50_000}

# What makes GDAL fastest; a new file needs no journal, and one that exists keeps its own.
UNSAFE = ["--config", "OGR_SQLITE_SYNCHRONOUS", "OFF", "--config", "OGR_SQLITE_CACHE", "1024"]
FAST = [*UNSAFE, "--config", "OGR_SQLITE_JOURNAL", "OFF", "-gt", "unlimited", "-f", "GPKG"]


def title(setup, name):
    return TITLES[name].format(setup.count(SIZES[name]))


def tool(setup, *words):
    return [setup.tool, *words, "--quiet"]


def gdal(setup, *words, **keywords):
    return Contender([*setup.gdal, *words], environment=setup.gdal_environment, **keywords)


def imports(setup):
    bars = {"points": (3.0, 4.5), "polys": (3.5, 5.0), "lines": (4.0, 6.0)}
    for name, bar in bars.items():
        yield import_work(
            setup, f"GeoJSON → GeoPackage, {title(setup, name)}", f"{name}.geojson", name, [],
            COLUMNS[name], bar)
    gpx = [
        ("tracks.gpx", "track_points", ["ele", "time"], (1.6, 3.0)),
        ("tracks.gpx", "tracks", ["name"], (1.0, 2.0)),
        ("waypoints.gpx", "waypoints", ["ele", "time", "name"], (1.3, 2.5)),
    ]
    for source, layer, columns, bar in gpx:
        yield import_work(
            setup, f"GPX → GeoPackage, {layer.replace('_', ' ')}", source, layer,
            ["--only", layer], columns, bar)


def import_work(setup, heading, source, layer, options, columns, bar):
    ours, theirs = setup.out("ours.gpkg"), setup.out("theirs.gpkg")
    contenders = {
        "Fieldpack": Contender(
            tool(setup, "import", setup.path(source), "--into", ours, *options), makes=[ours])
    }
    bars = []
    if setup.gdal:
        only = [layer] if source.endswith(".gpx") else []
        contenders["GDAL"] = gdal(
            setup, "translate", theirs, setup.path(source), *FAST, *only, makes=[theirs])
        bars.append(Bar("GDAL", *bar))

    def check(_):
        if setup.gdal:
            # From GPX GDAL makes geometries without heights, which Fieldpack has as Z.
            is_gpx = source.endswith(".gpx")
            digest.same_layers(
                (ours, layer, columns), (theirs, layer, columns), with_geometry=not is_gpx)
            digest.same_features(setup, ours, theirs, layer, "xy" if is_gpx else "xyz")
        elif digest.geopackage_layer(ours, layer, columns)[0] < 1:
            raise Failure(f"{ours} holds no features")

    return Work(heading, contenders, bars, check=check)


def additions(setup):
    """A new layer in, and rows for an indexed layer of, a file that exists."""
    modes = [
        ("as a new layer", ["--layer", "more"], ["-update", "-nln", "more"], "more"),
        ("appended to an indexed layer", ["--layer", "points", "--mode", "append"],
         ["-append", "-nln", "points"], "points"),
    ]
    for words, ours_options, gdal_options, layer in modes:
        yield addition(setup, words, ours_options, gdal_options, layer)


def addition(setup, words, ours_options, gdal_options, layer):
    ours, theirs = setup.out("ours.gpkg"), setup.out("theirs.gpkg")
    base, source = setup.path("points.gpkg"), setup.path("points.geojson")
    contenders = {
        "Fieldpack": Contender(
            tool(setup, "import", source, "--into", ours, *ours_options), copies=[(base, ours)])
    }
    if setup.gdal:
        contenders["GDAL"] = gdal(
            setup, "translate", theirs, source, *UNSAFE, "-gt", "unlimited", *gdal_options,
            copies=[(base, theirs)])

    def check(_):
        if setup.gdal:
            columns = COLUMNS["points"]
            digest.same_layers((ours, layer, columns), (theirs, layer, columns))

    return Work(
        f"{title(setup, 'points')} into a file that exists, {words}", contenders,
        [Bar("GDAL", 3.0, 4.0)], check=check)


def upserts(setup):
    """Rows of which the layer has half already, in turns with the same rows appended: without their
    ids, which the layer has, too."""
    base = setup.path("points.gpkg")
    with_ids, without = setup.path("changes.geojson"), setup.path("changes-without-ids.geojson")
    if not os.path.exists(without):
        make_changes(setup.path("points.geojson"), with_ids, without)
    ours, added, theirs = setup.out("ours.gpkg"), setup.out("added.gpkg"), setup.out("theirs.gpkg")

    def imported(source, target, *options):
        command = tool(setup, "import", source, "--into", target, "--layer", "points", *options)
        return Contender(command, copies=[(base, target)])

    # Both works make the same layer, so GDAL, which takes a minute, makes it once.
    references = []

    def check(series):
        columns, rows = COLUMNS["points"], setup.count(1_000_000)
        if "GDAL" in series:
            references.append(theirs)
        if references:
            digest.same_layers((ours, "points", columns), (theirs, "points", columns))
        elif digest.geopackage_layer(ours, "points", columns)[0] != rows + rows // 2:
            raise Failure(f"{ours} does not hold half as many features more")

    for words, source, options in [
        ("by their ids", with_ids, []), ("by a column", without, ["--match", "name"]),
    ]:
        contenders = {
            "Fieldpack": imported(source, ours, "--mode", "upsert", *options),
            "appended": imported(without, added, "--mode", "append"),
        }
        if setup.gdal and not options:
            contenders["GDAL"] = gdal(
                setup, "translate", theirs, with_ids, *UNSAFE, "-gt", "unlimited", "-update",
                "-upsert", "-preserve_fid", "-nln", "points", copies=[(base, theirs)])
        yield Work(
            f"{title(setup, 'points')} of which half exist, found {words}", contenders,
            [Bar("appended", 0.5, 0.7)], check=check)


def make_changes(source, with_ids, without):
    """As many points as the source has: its later half, with the values and places of other points
    but its names, and new ones."""
    with open(source, encoding="ascii") as file:
        head, *points, _ = file.read().splitlines()
    points = [point.rstrip(",") for point in points]
    count = len(points)

    def change(number):
        if number >= count:
            return points[number - count].replace('","flag"', ' new","flag"')
        other = points[count - 1 - number].split('"', 16)
        other[13] = points[number].split('"', 16)[13]  # the name
        return '"'.join(other)

    with open(with_ids, "w", encoding="ascii") as one, open(without, "w", encoding="ascii") as two:
        separator = f"{head}\n"
        for number in range(count // 2, count // 2 + count):
            rest = change(number).removeprefix("{")
            one.write(f'{separator}{{"id":{number + 1},{rest}')
            two.write(f"{separator}{{{rest}")
            separator = ",\n"
        for file in (one, two):
            file.write("\n]}\n")


def exports(setup):
    bars = {"points": (5, 5), "polys": (12, 12), "lines": (8, 8)}
    for name, bar in bars.items():
        ours, theirs = setup.out("ours.geojson"), setup.out("theirs.geojson")
        lines = setup.out("duckdb.geojsonl")
        source = setup.path(f"{name}.gpkg")
        contenders = {
            "Fieldpack": Contender(
                tool(setup, "export", source, "--output", ours), makes=[ours])
        }
        if setup.gdal:
            contenders["GDAL"] = gdal(
                setup, "translate", theirs, source, "-f", "GeoJSON", makes=[theirs])
            driver = os.path.join(setup.benchmarks, "peers/duckdb_export.py")
            contenders["DuckDB"] = Contender(
                [setup.python, driver, source, lines, *COLUMNS[name]], makes=[lines],
                attempts=5)

        def check(_, ours=ours, theirs=theirs, lines=lines, name=name):
            digest.same_features(setup, ours, setup.path(f"{name}.gpkg"), name)
            digest.same_features(setup, ours, theirs, name)
            digest.same_features(setup, ours, lines, name)

        yield Work(
            f"GeoPackage → GeoJSON, {title(setup, name)}", contenders,
            [Bar("GDAL", *bar), Bar("DuckDB", 1.0, 1.5)], check=check)


def gpx_exports(setup):
    """Waypoints and tracks from files whose columns are those of GPX."""
    points, tracks = setup.path("waypoints-1m.gpkg"), setup.path("tracks-10m.gpkg")
    if not setup.gdal:
        points, tracks = setup.path("waypoints.gpkg"), setup.path("tracks.gpkg")
        setup.import_file("tracks.gpx", "tracks.gpkg", "--only", "tracks")
    elif not os.path.exists(tracks):
        make_gpx_sources(setup, points, tracks)
    ours, theirs = setup.out("ours.gpx"), setup.out("theirs.gpx")
    track_options = ["-nlt", "MULTILINESTRING25D", "-lco", "FORCE_GPX_TRACK=YES"]
    for words, source, layer, options, bar in [
        (f"{setup.count(1_000_000):,} waypoints", points, "waypoints", [], (5, 12)),
        (f"{setup.count(50_000) * 200:,} track points", tracks, "tracks", track_options, (8, 20)),
    ]:
        contenders = {
            "Fieldpack": Contender(
                tool(setup, "export", source, "--output", ours), makes=[ours])
        }
        if setup.gdal:
            contenders["GDAL"] = gdal(
                setup, "translate", theirs, source, "-f", "GPX", *options, makes=[theirs])

        def check(_, layer=layer):
            digest.same_features(setup, ours, theirs, layer)

        yield Work(
            f"GeoPackage → GPX, {words}", contenders, [Bar("GDAL", *bar)], check=check)


def make_gpx_sources(setup, points, tracks):
    selections = [
        (points, "points", "waypoints", [],
         "SELECT geom, name, val AS ele, ts AS time FROM points"),
        (tracks, "lines", "tracks", ["-nlt", "MULTILINESTRING25D"],
         "SELECT geom, name FROM lines"),
    ]
    for target, source, layer, options, sql in selections:
        remove(target)
        run(
            [*setup.gdal, "translate", target, setup.path(f"{source}.gpkg"), *FAST, *options,
             "-nln", layer, "-sql", sql], setup.gdal_environment)


def transforms(setup):
    for name in ["points", "lines"]:
        for srs in ["EPSG:3857", "EPSG:32633"]:
            ours, theirs = setup.out("ours.gpkg"), setup.out("theirs.gpkg")
            source = setup.path(f"{name}.gpkg")
            contenders = {
                "Fieldpack": Contender(
                    tool(setup, "transform", source, "--srs", srs, "--output", ours),
                    makes=[ours])
            }
            if setup.gdal:
                contenders["GDAL"] = gdal(
                    setup, "translate", theirs, source, *FAST, "-t_srs", srs, makes=[theirs])

            def check(_, ours=ours, theirs=theirs, name=name):
                digest.same_features(setup, ours, theirs, name)

            yield Work(
                f"Transformation of {title(setup, name)} to {srs}", contenders,
                [Bar("GDAL", 2.0, 2.5)], check=check)


def projections(setup):
    """PROJ over arrays in one thread: what of its speed is left."""
    for srs in ["EPSG:3857", "EPSG:32633"]:
        count = setup.count(5_000_000)
        yield Work(
            f"Projection alone to {srs}, {count:,} positions, one core",
            {
                "Fieldpack": Contender([setup.bench, "project", srs, count]),
                "PROJ": Contender([setup.limits, "project", srs, count]),
            },
            [Bar("PROJ", 0.9, 1.0)], figure="seconds", check=same_figures("count"))


def indexes(setup):
    """The index of a layer that has none, in a copy of its file."""
    bare = setup.path("bare.gpkg")
    if not setup.gdal:
        bare = setup.path("points.gpkg")
    elif not os.path.exists(bare):
        run(
            [*setup.gdal, "translate", bare, setup.path("points.gpkg"), *FAST, "-lco",
             "SPATIAL_INDEX=NO"], setup.gdal_environment)
    ours, theirs, rows = setup.out("ours.gpkg"), setup.out("theirs.gpkg"), setup.out("rows.gpkg")
    contenders = {
        "Fieldpack": Contender(
            tool(setup, "optimize", "--index", ours), copies=[(bare, ours)]),
        "row inserts": Contender([setup.limits, "rtree", rows, "points"], copies=[(bare, rows)]),
    }
    if setup.gdal:
        sql = "SELECT CreateSpatialIndex('points', 'geom')"
        contenders["GDAL"] = gdal(setup, "sql", theirs, sql, copies=[(bare, theirs)])

    def check(_):
        if not setup.gdal:
            return
        digest.same_layers((ours, "points", ["num"]), (theirs, "points", ["num"]))
        mine, other = (digest.bytes_of_index(path, "points") for path in (ours, theirs))
        if mine and other and setup.scale >= 0.1 and mine > 0.7 * other:
            raise Failure(f"the index has {mine:,} bytes, GDAL's {other:,}")

    yield Work(
        f"R-tree of {title(setup, 'points')}, on its own", contenders,
        [Bar("GDAL", 2.7, 4.0), Bar("row inserts", 8.0)], check=check)
