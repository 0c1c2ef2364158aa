"""Compares what Fieldpack and a peer wrote, read by one reader that neither of them is."""

import sqlite3
import struct
import zlib

from harness.measure import Failure, run

ENVELOPE_BYTES = [0, 32, 48, 48, 64]


def geopackage_layer(path, layer, columns, with_geometry=True):
    """Count, and checksum of geometries (without their headers) and values, in id order."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.execute("PRAGMA trusted_schema=ON")
    geometry = database.execute(
        "SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ?", (layer,)
    ).fetchone()[0]
    names = ", ".join(f'"{name}"' for name in [geometry, *columns])
    count, checksum = 0, 0
    for row in database.execute(f'SELECT {names} FROM "{layer}" ORDER BY rowid'):
        blob = row[0]
        body = blob[8 + ENVELOPE_BYTES[blob[3] >> 1 & 7]:]
        if with_geometry:
            checksum = zlib.crc32(body, checksum)
        for value in row[1:]:
            checksum = zlib.crc32(plain(value), checksum)
        count += 1
    indexed = database.execute(
        "SELECT count(*) FROM gpkg_extensions WHERE table_name = ? AND extension_name = "
        "'gpkg_rtree_index'", (layer,)).fetchone()[0]
    if indexed:
        verdict = database.execute(
            "SELECT rtreecheck(?)", (f"rtree_{layer}_{geometry}",)).fetchone()[0]
        if verdict != "ok":
            raise Failure(f"rtreecheck of '{layer}' in {path}: {verdict}")
    database.close()
    return count, checksum, bool(indexed)


def plain(value):
    """A value as bytes; a time without its zero milliseconds, which writers may leave out."""
    if isinstance(value, float):
        return struct.pack("<d", value)
    if isinstance(value, str):
        return value.replace(".000Z", "Z").encode()
    return repr(value).encode()


def same_layers(ours, theirs, with_geometry=True):
    """Raises where two (path, layer, columns) differ."""
    mine = geopackage_layer(*ours, with_geometry)
    other = geopackage_layer(*theirs, with_geometry)
    if mine != other:
        raise Failure(f"{ours[0]} gives {mine}, {theirs[0]} gives {other}")


def same_features(setup, ours, theirs, layer="", ordinates="xyz"):
    """Raises where GDAL reads other coordinates, or another order, from two files of any format."""
    if not setup.gdal:
        return
    found = [
        run([*setup.gdal, "digest", path, layer, ordinates], setup.gdal_environment).figures
        for path in (ours, theirs)
    ]
    tolerance = 1e-6 * max(1, abs(found[1]["sum"]))
    if found[0]["count"] != found[1]["count"] or abs(found[0]["sum"] - found[1]["sum"]) > tolerance:
        raise Failure(f"{ours} gives {found[0]}, {theirs} gives {found[1]}")


def bytes_of_index(path, layer, geometry="geom"):
    """The bytes of the pages of a layer's R-tree."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return database.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE name LIKE ? || '_node' OR name LIKE ? || '_rowid'"
            " OR name LIKE ? || '_parent'", (f"rtree_{layer}_{geometry}",) * 3).fetchone()[0]
    except sqlite3.OperationalError:
        return None
    finally:
        database.close()
