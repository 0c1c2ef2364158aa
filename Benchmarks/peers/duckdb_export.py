"""DuckDB as a peer: writes a layer as features, one a line.

usage: duckdb_export.py GEOPACKAGE OUT COLUMN...
"""

import glob
import json
import os
import sys
import time

import duckdb

source, target, columns = sys.argv[1], sys.argv[2], sys.argv[3:]
packages = os.path.dirname(os.path.dirname(duckdb.__file__))
pattern = "duckdb_extension_spatial/extensions/*/spatial.duckdb_extension"
extension = glob.glob(os.path.join(packages, pattern))[0]

start = time.monotonic()
database = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true"})
database.execute(f"LOAD '{extension}'")
members = ", ".join(f"'{name}': \"{name}\"" for name in columns)
feature = (
    "'{\"type\":\"Feature\",\"properties\":' || to_json({" + members + "})::VARCHAR"
    " || ',\"geometry\":' || ST_AsGeoJSON(geom)::VARCHAR || '}'"
)
database.execute(
    f"COPY (SELECT {feature} FROM ST_Read('{source}')) TO '{target}'"
    " (FORMAT CSV, HEADER false, QUOTE '', DELIMITER '\x01')"
)
print(json.dumps({"seconds": time.monotonic() - start, "version": duckdb.__version__}))
