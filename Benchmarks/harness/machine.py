"""Start-up, growth with size, and what the machine gives when nothing stands between."""

import os
import platform

from harness.file_works import tool
from harness.measure import in_turns, run
from harness.work import Bar, Contender, Failure, Work


def startup(setup):
    """Against an empty C program that is linked to the same libraries."""
    small = setup.path("small.gpkg")
    if not os.path.exists(small):
        text = setup.path("small.geojson")
        with open(text, "w", encoding="ascii") as file:
            file.write('{"type":"Point","coordinates":[5,45]}')
        setup.import_file("small.geojson", "small.gpkg")
    empty = [setup.limits, "empty"]
    for words, command, factor in [
        ("fieldpack --help", [setup.tool, "--help"], 1.5),
        ("fieldpack info of a small file", [setup.tool, "info", small], 2.5),
    ]:
        yield Work(
            f"Start-up, {words} (median of 20)",
            {
                "Fieldpack": Repeated(command), "empty C program": Repeated(empty),
            },
            [Bar("empty C program", 1 / factor)], figure="seconds")


class Repeated(Contender):
    """A command so short that a single run says nothing."""

    def once(self):
        runs = sorted((run(self.command) for _ in range(20)), key=lambda one: one.wall)
        middle = runs[len(runs) // 2]
        middle.figures = {"seconds": middle.wall}
        return middle


def about_as_many(series):
    """Boxes of 100 hits on average find about as many of other points."""
    counts = [float(runs.figures["count"]) for runs in series.values()]
    if max(counts) > 1.01 * min(counts):
        raise Failure(f"the boxes find {counts}")


def growth(setup):
    """Fieldpack on five times as many points; the 'peer' is Fieldpack on the standard set, and a
    ratio of 1 / 5.5 says that time grew 5.5 times."""
    if not os.path.exists(setup.path("points5m.gpkg")):
        run([setup.bench, "make", setup.data, setup.scale, "points5m"])
        setup.import_file("points5m.geojson", "points5m.gpkg")
    out, five = setup.out("ours.gpkg"), setup.out("five.gpkg")
    once = 1 / 5.5

    def imported(name, target):
        return Contender(
            tool(setup, "import", setup.path(f"{name}.geojson"), "--into", target),
            makes=[target])

    def indexed(name, target):
        return Contender(
            tool(setup, "optimize", "--index", target),
            copies=[(setup.path(f"{name}.gpkg"), target)])

    def reading(work, name, layer, *more):
        return Contender([setup.bench, work, setup.path(f"{name}.gpkg"), layer, *more])

    name = "a fifth of the rows"
    five_boxes, boxes = setup.path("boxes-points5m.txt"), setup.path("boxes-points.txt")
    yield Work(
        "Growth 1M → 5M points: import",
        {"Fieldpack": imported("points5m", five), name: imported("points", out)},
        [Bar(name, once)])
    yield Work(
        "Growth 1M → 5M points: index",
        {"Fieldpack": indexed("points5m", five), name: indexed("points", out)},
        [Bar(name, once)])
    yield Work(
        "Growth 1M → 5M points: scan",
        {
            "Fieldpack": reading("scan", "points5m", "points5m"),
            name: reading("scan", "points", "points"),
        },
        [Bar(name, once)], figure="seconds")
    yield Work(
        "Growth 1M → 5M points: boxes",
        {
            "Fieldpack": reading("boxes", "points5m", "points5m", five_boxes),
            name: reading("boxes", "points", "points", boxes),
        },
        [Bar(name, 1 / 1.3)], figure="p50", check=about_as_many)


def limits(setup, rounds):
    """(name, figure) of SQLite, memcpy and PROJ called from C."""
    points, scratch = setup.path("points.gpkg"), setup.out("limits.db")
    rows = setup.count(1_000_000)
    commands = {
        "SQLite stepping": Contender([setup.limits, "scan", points, "points"]),
        "SQLite inserting": Contender([setup.limits, "insert", scratch, rows], makes=[scratch]),
        "memcpy": Contender([setup.limits, "memcpy", 512]),
        "PROJ, EPSG:3857": Contender([setup.limits, "project", "EPSG:3857", 5 * rows]),
        "PROJ, EPSG:32633": Contender([setup.limits, "project", "EPSG:32633", 5 * rows]),
    }
    series = in_turns({name: one.once for name, one in commands.items()}, rounds)
    units = {"memcpy": ("GB/s", 1.048576e-3)}
    found = []
    for name, runs in series.items():
        unit, factor = units.get(name, ("M rows or positions/s", 1e-6))
        rate = runs.figures["count"] / runs.median("seconds") * factor
        found.append((name, f"{rate:.1f} {unit}"))
    return found


def description():
    """The processor and the number of its cores."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as information:
            for line in information:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores"
