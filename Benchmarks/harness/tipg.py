"""tipg on PostgreSQL with PostGIS, in a cluster of its own that ends with the servers."""

import glob
import os
import shutil
import subprocess
import time

from harness.measure import Failure
from harness.served import Server
from harness.setup import call, say

PACKAGES = ["tipg==1.6.1", "uvicorn==0.54.0"]


def start(setup, file, port):
    """The server by its name, or nothing where something is missing."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not programs or not shutil.which("ogr2ogr"):
        say("PostgreSQL or ogr2ogr is not installed, so tipg is left out")
        return {}
    folder = setup.out("tipg")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    # PostgreSQL refuses to run as root.
    user = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    try:
        call([setup.python, "-m", "pip", "install", "--quiet", *PACKAGES], folder)
        call([*user, f"{programs[-1]}/initdb", "-D", f"{folder}/data", "-A", "trust"], folder)
        database = [
            *user, f"{programs[-1]}/postgres", "-D", f"{folder}/data", "-k", folder, "-p",
            str(port + 1), "-c", "listen_addresses=127.0.0.1"]
        fill(programs[-1], database, user, folder, file, port + 1)
        environment = {
            "DATABASE_URL": f"postgresql://postgres@127.0.0.1:{port + 1}/serve",
            "TIPG_MAX_FEATURES_PER_QUERY": "10000", "TIPG_MAX_FEATURES_PER_TILE": "1000000",
            "TIPG_DB_ONLY_SPATIAL_TABLES": "TRUE"}
        web = [
            setup.python, "-m", "uvicorn", "tipg.main:app", "--port", port, "--workers", 2,
            "--log-level", "error"]
        return {"tipg": Server("tipg", [database, web], port, f"{folder}/log", environment)}
    except Failure as failure:
        say(f"tipg is left out: {failure}")
        return {}


def fill(programs, database, user, folder, file, port):
    """Copies both layers into the database `serve`, each with an index of its geometries."""
    at = ["-h", folder, "-p", port]
    with subprocess.Popen(
        database, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + 30
            while not os.path.exists(f"{folder}/.s.PGSQL.{port}") and time.monotonic() < deadline:
                time.sleep(0.1)
            call([*user, f"{programs}/createdb", *at, "serve"], folder)
            call([*user, "psql", *at, "-d", "serve", "-c", "CREATE EXTENSION postgis"], folder)
            call([
                "ogr2ogr", "-f", "PostgreSQL", f"PG:host={folder} port={port} user=postgres dbname=serve",
                file, "points", "polys", "--config", "PG_USE_COPY", "YES"], folder)
            call([*user, "psql", *at, "-d", "serve", "-c", "VACUUM ANALYZE"], folder)
        finally:
            server.terminate()
