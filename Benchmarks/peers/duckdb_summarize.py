"""DuckDB as a peer: SUMMARIZE of a layer's columns, read from its file as a table of SQLite.

usage: duckdb_summarize.py GEOPACKAGE LAYER COLUMN...
"""

import glob
import json
import os
import sys
import time

import duckdb

source, layer, columns = sys.argv[1], sys.argv[2], sys.argv[3:]
packages = os.path.dirname(os.path.dirname(duckdb.__file__))
pattern = "duckdb_extension_sqlite_scanner/extensions/*/sqlite_scanner.duckdb_extension"
extension = glob.glob(os.path.join(packages, pattern))[0]

start = time.monotonic()
database = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true"})
database.execute(f"LOAD '{extension}'")
selection = ", ".join(f'"{name}"' for name in columns)
rows = database.execute(
    f"SUMMARIZE SELECT {selection} FROM sqlite_scan('{source}', '{layer}')").fetchall()
names = [column[0] for column in database.description]
print(
    json.dumps(
        {
            "seconds": time.monotonic() - start, "version": duckdb.__version__,
            "count": rows[0][names.index("count")],
        }))
