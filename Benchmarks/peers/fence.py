#!/usr/bin/env python3
"""fence.py batch|stream FIXES CIRCLES AREAS: enters and exits by shapely.

batch: all fixes at once, by one query of an STRtree and sorted keys of numpy. stream: one fix at a
time, with a set of regions a device. Circles are of 80 m by the haversine formula, as is usual; what
is printed for comparison is by geodesics (pyproj), which are not timed, and beside it the haversine's.
"""

import json
import math
import sys
import time

import numpy as np
import pyproj
import shapely

RADIUS, EARTH = 80.0, 6371008.8


def boxes(circles, slack=1.0):
    high = slack * RADIUS / 111195.0
    wide = high / np.cos(np.radians(circles[:, 1]))
    x, y = circles[:, 0], circles[:, 1]
    return shapely.box(x - wide, y - high, x + wide, y + high)


def regions(circles, areas, slack=1.0):
    found = np.concatenate([boxes(circles, slack), areas])
    shapely.prepare(found)
    return found


def haversine(x, y, circles):
    a, b = np.radians(y), np.radians(circles[:, 1])
    turn = np.radians(x - circles[:, 0])
    square = np.sin((a - b) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(turn / 2) ** 2
    return 2 * EARTH * np.arcsin(np.sqrt(square))


def geodesic(x, y, circles):
    return pyproj.Geod(ellps="WGS84").inv(x, y, circles[:, 0], circles[:, 1])[2]


def memberships(fixes, circles, areas, distance, slack=1.0):
    tree = shapely.STRtree(regions(circles, areas, slack))
    points = shapely.points(fixes["x"], fixes["y"])
    fix, region = tree.query(points, predicate="intersects")
    is_circle = region < len(circles)
    keep = np.ones(len(fix), bool)
    keep[is_circle] = distance(
        fixes["x"][fix[is_circle]], fixes["y"][fix[is_circle]],
        circles[region[is_circle]]) <= RADIUS
    return fix[keep], region[keep]


def events(fixes, steps, last, fix, region):
    device = fixes["d"][fix].astype(np.int64)
    key = (device * 1_000_000 + region) * 10_000 + steps[fix]
    order = np.argsort(key)
    key, device = key[order], device[order]
    enters = len(key) - np.isin(key - 1, key, assume_unique=True).sum()
    goes = ~np.isin(key + 1, key, assume_unique=True)
    exits = (goes & (key % 10_000 < last[device])).sum()
    return int(enters), int(exits)


def places(fixes):
    """Which fix of its device each is, and the last of each device."""
    order = np.argsort(fixes["d"], kind="stable")
    sorted_devices = fixes["d"][order]
    first = np.searchsorted(sorted_devices, sorted_devices, side="left")
    steps = np.empty(len(fixes), np.int64)
    steps[order] = np.arange(len(fixes)) - first
    last = np.zeros(int(fixes["d"].max()) + 1, np.int64)
    np.maximum.at(last, fixes["d"], steps)
    return steps, last


def batch(fixes, circles, areas):
    start, cpu = time.perf_counter(), time.process_time()
    fix, region = memberships(fixes, circles, areas, haversine)
    events(fixes, *places(fixes), fix, region)
    return time.perf_counter() - start, time.process_time() - cpu


def stream(fixes, circles, areas):
    tree = shapely.STRtree(regions(circles, areas))
    centres, count = circles.tolist(), len(circles)
    stays, enters, exits = {}, 0, 0
    rows = fixes.tolist()
    start, cpu = time.perf_counter(), time.process_time()
    for device, x, y in rows:
        now = set()
        for region in tree.query(shapely.Point(x, y), predicate="intersects").tolist():
            if region < count:
                a, b = math.radians(y), math.radians(centres[region][1])
                turn = math.radians(x - centres[region][0])
                square = math.sin((a - b) / 2) ** 2
                square += math.cos(a) * math.cos(b) * math.sin(turn / 2) ** 2
                if 2 * EARTH * math.asin(math.sqrt(square)) > RADIUS:
                    continue
            now.add(region)
        before = stays.get(device, ())
        enters += len(now.difference(before))
        exits += len(set(before) - now)
        stays[device] = now
    return time.perf_counter() - start, time.process_time() - cpu


def main():
    work, fixes, circles, areas = sys.argv[1:]
    fixes = np.fromfile(fixes, dtype=[("d", "<i4"), ("x", "<f8"), ("y", "<f8")])
    circles = np.loadtxt(circles, ndmin=2)
    with open(areas, encoding="ascii") as lines:
        areas = shapely.from_wkt(np.array(lines.read().splitlines(), dtype=object))
    seconds, cpu = {"batch": batch, "stream": stream}[work](fixes, circles, areas)
    steps, last = places(fixes)
    fix, region = memberships(fixes, circles, areas, geodesic, slack=1.02)
    usual = memberships(fixes, circles, areas, haversine)
    print(json.dumps({
        "seconds": seconds, "cpu": cpu, "count": len(fix),
        "checksum": list(events(fixes, steps, last, fix, region)),
        "haversine": [len(usual[0]), *events(fixes, steps, last, *usual)],
    }))


if __name__ == "__main__":
    main()
