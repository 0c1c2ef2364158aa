#!/usr/bin/env python3
"""validity.py FILE LAYER: the geometries that shapely says are not valid, with the reasons."""

import json
import sys
import time

import pyogrio
import shapely


def main():
    path, layer = sys.argv[1:]
    start = time.perf_counter()
    _, _, geometries, _ = pyogrio.raw.read(path, layer=layer, columns=[])
    reasons = shapely.is_valid_reason(shapely.from_wkb(geometries))
    found = int((reasons != "Valid Geometry").sum())
    print(json.dumps({"seconds": time.perf_counter() - start, "count": found}))


if __name__ == "__main__":
    main()
