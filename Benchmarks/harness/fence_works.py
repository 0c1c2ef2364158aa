"""Fixes of many devices against many regions."""

import os

from harness.measure import run
from harness.setup import say
from harness.work import Bar, Contender, Work, same_figures


def fences(setup):
    fixes = ["fixes-walks.bin", "fixes-jumps.bin"]
    others = ["circles.txt", "areas.txt"]
    if not all(os.path.exists(setup.path(name)) for name in [*fixes, *others]):
        say("making fixes and regions")
        run([setup.bench, "make", setup.data, setup.scale, "fences"])
    for name, heading in zip(fixes, ["walks", "jumps"]):
        files = [setup.path(file) for file in [name, *others]]
        for work, bar, words in [
            ("batch", Bar("shapely", 1.5, 3.5), "all at once"),
            ("stream", Bar("shapely", 8.0, 30.0), "one at a time"),
        ]:
            contenders = {"Fieldpack": Contender([setup.bench, "fence", work, *files])}
            if setup.python:
                peer = os.path.join(setup.benchmarks, "peers/fence.py")
                contenders["shapely"] = Contender([setup.python, peer, work, *files])
            yield Work(
                f"{setup.count(1_000_000):,} fixes in {heading} against "
                f"{setup.count(10_000):,} circles and {setup.count(1000):,} areas, {words}",
                contenders, [bar], figure="seconds", check=same_figures("count", "checksum"))
        kept = setup.out("fences.gpkg")
        yield Work(
            f"{setup.count(1_000_000):,} fixes in {heading}, detections kept, against C that inserts "
            "their rows",
            {
                "Fieldpack": Contender([setup.bench, "fence", "stored", *files, kept]),
                "C": Contender([
                    setup.limits, "copy", setup.out("copy.db"), "detection", kept,
                    max(1, setup.count(1_000_000) // 200_000)],
                    makes=[setup.out(f"copy.db{end}") for end in ("", "-wal", "-shm")]),
            },
            [Bar("C", 0.5)], figure="seconds", check=same_figures("count"))
