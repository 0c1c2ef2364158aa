"""Builds and fetches what a comparison needs, and says which versions it found."""

import glob
import os
import shutil
import subprocess
import sys

from harness.measure import Failure, run

# DuckDB and its extension have to be of one version.
PYTHON_PEERS = [
    "pyogrio==0.13.0", "duckdb==1.5.5", "duckdb-extension-spatial==1.5.5",
    "duckdb-extension-sqlite-scanner==1.5.5", "shapely==2.2.0", "pyproj==3.7.2"]
DATA_SETS = ["points", "polys", "lines", "tracks", "waypoints", "queries"]


class Setup:
    """Where everything is. Peers that could not be had are None."""

    def __init__(self, benchmarks, work, scale, with_peers, build_options):
        self.root = os.path.dirname(benchmarks)
        self.benchmarks = benchmarks
        self.work = work
        self.scale = scale
        self.data = os.path.join(work, f"data-{scale:g}")
        self.scratch = os.path.join(work, "scratch")
        # Else the traits come in another order each time, and everything is compiled again.
        self.build_command = ["env", "SWIFT_DETERMINISTIC_HASHING=1", "swift", "build", *build_options]
        self.built = first_line([*self.build_command, "--show-bin-path"], self.root)
        self.tool = os.path.join(self.built, "fieldpack")
        self.subject = None
        self.bench = os.path.join(self.built, "FieldpackBench")
        self.limits = os.path.join(work, "limits")
        self.serve = self.load = None
        self.gdal_driver = os.path.join(work, "gdal")
        self.venv = os.path.join(work, "venv")
        self.python = None
        self.gdal = None
        self.gdal_environment = {}
        self.with_peers = with_peers

    def prepare(self):
        os.makedirs(self.data, exist_ok=True)
        os.makedirs(self.scratch, exist_ok=True)
        self.build()
        if self.with_peers:
            self.install_peers()
        self.make_data()

    def build(self):
        say("building Fieldpack and the benchmarks (release)")
        call([*self.build_command, "--product", "fieldpack"], self.root)
        # In the root's build folder, so that nothing is compiled twice. SwiftPM would take this
        # package's plan for the root's if it were kept.
        scratch = os.path.dirname(os.path.dirname(self.built))
        try:
            call(
                [*self.build_command, "--scratch-path", scratch,
                 "--disable-build-manifest-caching"], self.benchmarks)
        finally:
            plan = os.path.join(scratch, "release.yaml")
            if os.path.exists(plan):
                os.remove(plan)
        compiler = shutil.which("cc") or shutil.which("clang")
        if not compiler:
            raise Failure("there is no C compiler for the peers. Try: apt-get install gcc")
        sources = os.path.join(self.benchmarks, "peers")
        call([compiler, "-O2", f"{sources}/gdal.c", "-ldl", "-o", self.gdal_driver], sources)
        libraries = ["-lsqlite3", "-lspatialite", "-lproj", "-lgeos_c", "-lxml2"]
        call(
            [compiler, "-O2", f"{sources}/limits.c", *libraries, "-o", self.limits], sources)

    def build_server_peers(self):
        """The C server, and the program that asks servers."""
        sources = os.path.join(self.benchmarks, "peers")
        self.serve, self.load = (os.path.join(self.work, name) for name in ["serve", "load"])
        compiler = shutil.which("cc") or shutil.which("clang")
        libraries = ["-lmicrohttpd", "-lsqlite3", "-lm"]
        call([compiler, "-O2", f"{sources}/serve.c", *libraries, "-o", self.serve], sources)
        call([compiler, "-O2", f"{sources}/load.c", "-o", self.load], sources)

    def test_subject(self):
        """The program that reaches what is no public API. The library of tests, which it is linked to, is
        never static, so it may need a build of its own."""
        if not self.subject:
            say("building the test subject (release)")
            command = [part for part in self.build_command if part != "--static-swift-stdlib"]
            if command != self.build_command:
                command += ["--scratch-path", os.path.join(self.work, "subject")]
            call([*command, "--product", "FieldpackTestSubject"], self.root)
            folder = first_line([*command, "--show-bin-path"], self.root)
            self.subject = os.path.join(folder, "FieldpackTestSubject")
        return self.subject

    def install_peers(self):
        python = os.path.join(self.venv, "bin/python3")
        if not os.path.exists(python):
            call([sys.executable, "-m", "venv", self.venv], self.work)
        say(f"installing {', '.join(PYTHON_PEERS)}")
        call([python, "-m", "pip", "install", "--quiet", *PYTHON_PEERS], self.work)
        packages = glob.glob(os.path.join(self.venv, "lib/python3*/site-packages"))[0]
        library = glob.glob(os.path.join(packages, "pyogrio.libs/libgdal*"))
        if not library:
            raise Failure("the wheel of pyogrio holds no GDAL library")
        self.python = python
        self.gdal = [self.gdal_driver, library[0]]
        self.gdal_environment = {
            "GDAL_DATA": os.path.join(packages, "pyogrio/gdal_data"),
            "PROJ_DATA": os.path.join(packages, "pyogrio/proj_data"),
        }

    def make_data(self):
        """The standard sets as GeoJSON and GPX, and as GeoPackages that Fieldpack made."""
        marker = os.path.join(self.data, "complete")
        if os.path.exists(marker):
            return
        say(f"making the data in {self.data}")
        call([self.bench, "make", self.data, self.scale, *DATA_SETS], self.work)
        for name in ["points", "polys", "lines"]:
            self.import_file(f"{name}.geojson", f"{name}.gpkg")
        self.import_file("points.geojson", "clustered.gpkg", "--cluster")
        self.import_file("waypoints.gpx", "waypoints.gpkg")
        with open(marker, "w", encoding="ascii"):
            pass

    def import_file(self, source, target, *options):
        path = self.path(target)
        if os.path.exists(path):
            os.remove(path)
        self.add_file(source, target, *options)

    def add_file(self, source, target, *options):
        """Imports a file into a GeoPackage, which is made where there is none."""
        run([
            self.tool, "import", self.path(source), "--into", self.path(target), "--quiet",
            *options])

    def path(self, name):
        return os.path.join(self.data, name)

    def out(self, name):
        return os.path.join(self.scratch, name)

    def count(self, full):
        """How many features a set of `full` has at this scale."""
        return max(1, int(full * self.scale))

    def versions(self):
        found = [("Swift", first_line(["swift", "--version"]))]
        found.append(("SQLite", first_line(["sqlite3", "--version"])[:6] or "?"))
        if self.gdal:
            found.append(("GDAL", first_line([*self.gdal, "version"])))
            text = "import duckdb; print(duckdb.__version__)"
            found.append(("DuckDB", first_line([self.python, "-c", text])))
        return found


def call(command, folder):
    """Runs a step of the preparation; its output is shown only where it fails."""
    result = subprocess.run(
        [str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if result.returncode != 0:
        raise Failure(
            f"{' '.join(map(str, command))} failed:\n{result.stdout.decode(errors='replace')}")


def first_line(command, folder=None):
    try:
        output = subprocess.run(
            command, cwd=folder, capture_output=True, check=True,
            stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    lines = output.decode(errors="replace").splitlines()
    return lines[0].strip() if lines else ""


def say(text):
    print(f"   {text}", file=sys.stderr, flush=True)
