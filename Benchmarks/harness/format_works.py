"""Imports of binary formats, from files that GDAL wrote where it is there."""

import os

from harness.file_works import COLUMNS, import_work, title
from harness.measure import run


def formats(setup):
    for name in ["points", "polys"]:
        for ending, driver, bar in [
            ("shp", "ESRI Shapefile", (3.0, 4.0)), ("fgb", "FlatGeobuf", (2.0, 3.0)),
        ]:
            source = f"{name}.{ending}"
            if not os.path.exists(setup.path(source)):
                make_source(setup, name, source, driver)
            words = "Shapefile" if ending == "shp" else driver
            # GDAL reads the times of FlatGeobuf without their zone, and so stores them.
            columns = [column for column in COLUMNS[name] if ending == "shp" or column != "ts"]
            yield import_work(
                setup, f"{words} → GeoPackage, {title(setup, name)}", source, name, [], columns,
                bar)


def make_source(setup, name, source, driver):
    if setup.gdal:
        run(
            [*setup.gdal, "translate", setup.path(source), setup.path(f"{name}.gpkg"), "-f",
             driver], setup.gdal_environment)
    else:
        run([
            setup.tool, "export", setup.path(f"{name}.gpkg"), "--output", setup.path(source),
            "--quiet"])
