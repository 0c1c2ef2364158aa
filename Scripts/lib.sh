# Functions that the scripts beside this file share. Source it; it is no script of its own.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

say() { printf '\n== %s\n' "$*"; }
note() { printf '   %s\n' "$*"; }
fail() {
  printf '\nfieldpack: %s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Fails in clear words where Swift is absent or older than what the sources need.
need_swift() {
  local oldest=6.3 found
  has swift || fail "Swift is not installed. Try: https://www.swift.org/install (version $oldest or later)"
  found=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+(\.[0-9]+)*).*/\1/p' | head -n 1)
  [ -n "$found" ] || fail "'swift --version' tells no version. Try: https://www.swift.org/install"
  if [ "$(printf '%s\n' "$oldest" "$found" | sort -V | head -n 1)" != "$oldest" ]; then
    fail "Swift $found is too old, $oldest or later is needed. Try: https://www.swift.org/install"
  fi
}

# The packages of the default build whose headers are not there.
missing_libraries() {
  if ! has pkg-config; then
    echo pkg-config libsqlite3-dev libspatialite-dev libproj-dev libgeos-dev
    return
  fi
  pkg-config --exists sqlite3 || echo libsqlite3-dev
  pkg-config --exists spatialite || echo libspatialite-dev
  pkg-config --exists proj || echo libproj-dev
  pkg-config --exists geos || echo libgeos-dev
  pkg-config --exists libxml-2.0 || echo libxml2-dev
  pkg-config --exists zlib || echo zlib1g-dev
  pkg-config --exists minizip || echo libminizip-dev
}

# The packages of what traits add whose headers are not there.
missing_trait_libraries() {
  pkg-config --exists libmosquitto || echo libmosquitto-dev
  pkg-config --exists libmicrohttpd || echo libmicrohttpd-dev
  pkg-config --exists libpq || echo libpq-dev
}

# The packages that only tests use: other tools that read what we write, and shells to complete in.
missing_peers() {
  has sqlite3 || echo sqlite3
  has ogrinfo || echo gdal-bin
  has mapserv || echo cgi-mapserver
  has xmllint || echo libxml2-utils
  has zsh || echo zsh
  has fish || echo fish
  has ffmpeg || echo ffmpeg
  has mosquitto || [ -x /usr/sbin/mosquitto ] || echo mosquitto
  has mosquitto_sub || echo mosquitto-clients
  ls /usr/share/postgresql/*/extension/postgis.control >/dev/null 2>&1 || echo postgresql-15-postgis-3
  has openssl || echo openssl
  "$(system_python)" -c 'import osgeo' 2>/dev/null || echo python3-gdal
  "$(system_python)" -c 'import venv, ensurepip' 2>/dev/null || echo python3-venv
}

# The packages that the tests of the page with the map use: a browser is large, and not every system has
# it as a package.
missing_browser() {
  has node || echo nodejs
  has chromium || [ -n "${FIELDPACK_CHROMIUM:-}" ] || echo chromium
  [ -f /usr/share/javascript/leaflet/leaflet.esm.min.js ] || echo libjs-leaflet
}

# Debian's modules are only in Debian's own Python.
system_python() {
  if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else echo python3; fi
}

# Installs packages with apt; returns 1, with the reason printed, where that cannot be done.
install_packages() {
  local become=()
  if ! has apt-get; then
    note "apt-get is not there to install: $*"
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! has sudo; then
      note "neither root nor sudo is at hand. Try as root: apt-get install $*"
      return 1
    fi
    become=(sudo)
  fi
  note "installing: $*"
  # The lists may be fresh enough although they cannot be brought up to date.
  "${become[@]}" apt-get update -qq || note "the package lists could not be updated"
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" </dev/null
}

# Whatever the default build lacks is installed, or the script ends.
need_libraries() {
  local missing
  missing=$(missing_libraries | tr '\n' ' ')
  [ -n "${missing// /}" ] || return 0
  # shellcheck disable=SC2086 # one word a package
  install_packages $missing || fail "the build needs these packages: $missing"
}

# What only tests use is installed where possible; a test that misses it says so and is skipped.
want_peers() {
  local missing
  missing=$(missing_peers | tr '\n' ' ')
  # shellcheck disable=SC2086 # one word a package
  [ -z "${missing// /}" ] || install_packages $missing \
    || note "tests that use these are skipped: $missing"
  want_browser || note "tests that use a browser are skipped"
}

# What traits add needs more libraries; returns 1 where they cannot be installed.
want_trait_libraries() {
  local missing
  missing=$(missing_trait_libraries | tr '\n' ' ')
  [ -n "${missing// /}" ] || return 0
  # shellcheck disable=SC2086 # one word a package
  install_packages $missing || { note "traits are left out without: $missing"; return 1; }
}

# What `serve` needs; returns 1 where it cannot be installed.
want_server_library() {
  pkg-config --exists libmicrohttpd || install_packages libmicrohttpd-dev \
    || { note "the server is left out without: libmicrohttpd-dev"; return 1; }
}

# What opens the page of the server; returns 1 where it cannot be installed.
want_browser() {
  local missing
  missing=$(missing_browser | tr '\n' ' ')
  [ -n "${missing// /}" ] || return 0
  # shellcheck disable=SC2086 # one word a package
  install_packages $missing
}

# A Python with the readers that are not in Debian, in .build/venv.
want_python_readers() {
  local venv=$root/.build/venv
  has_python_readers "$venv" && return 0
  note "making $venv with gdal-utils, pyogrio, pyarrow, gpxpy, jsonschema, OWSLib, openapi-spec-validator"
  note "and schemathesis"
  # gdal-utils asks for GDAL's bindings, which its validator does without. Python compiles what it imports;
  # to compile all takes longer than to install it.
  if "$(system_python)" -m venv "$venv" >/dev/null \
    && "$venv/bin/pip" install --quiet --no-compile --no-deps gdal-utils </dev/null \
    && "$venv/bin/pip" install --quiet --no-compile pyogrio pyarrow gpxpy jsonschema OWSLib \
      openapi-spec-validator schemathesis </dev/null; then
    return 0
  fi
  note "pip could not install them all: tests that use them are skipped"
}

has_python_readers() {
  [ -x "$1/bin/python3" ] || return 1
  "$1/bin/python3" - 2>/dev/null <<'PYTHON'
import importlib.util, sys
sys.exit(any(importlib.util.find_spec(n) is None for n in ("osgeo_utils", "pyogrio", "pyarrow", "gpxpy", "jsonschema", "owslib", "openapi_spec_validator", "schemathesis")))
PYTHON
}

# Passes on what a build says; its steps only on a terminal, each in the place of the one before.
build_lines() {
  local step='^\[[0-9]+/[0-9]+\] '
  if [ -t 1 ]; then
    awk -v step="$step" '
      $0 ~ step { printf "\r\033[K%.78s", $0; fflush(); shown = 1; next }
      shown { printf "\r\033[K"; shown = 0 }
      { print; fflush() }'
  else
    grep -vE --line-buffered "$step" || true
  fi
}

# Prints the blocks of a language in a document, one after the other.
blocks() {
  awk -v start="\`\`\`$1" '
    $0 == start { inside = 1; next }
    $0 == "```" { inside = 0 }
    inside' "$2"
}

# Runs the commands of a transcript in a folder and prints it as it should be. Words behind the folder
# are what runs them, such as chroot.
transcript() {
  local line command
  while IFS= read -r line <&3; do
    [[ $line == '$ '* ]] || continue
    echo "$line"
    command=${line#'$ '}
    while [[ $line == *\\ ]]; do
      IFS= read -r line <&3
      echo "$line"
      command+=$'\n'$line
    done
    "${@:3}" bash -c "cd '$2' && { $command"$'\n}' </dev/null 2>&1 || true
  done 3<"$1"
}

# The tool as the README builds it: Swift's own libraries are part of the file, so that it starts
# sooner and runs on machines without Swift. Words behind it are more options, such as traits.
build_tool() { build -c release --static-swift-stdlib --product fieldpack "$@"; }

# From here on, `"${tested[@]}"` are the options of the one build that all of Scripts/test runs from: for
# release, as users run it, and with what `@testable` needs. It has a folder of its own, since other options
# compile all of it anew.
use_tested_build() {
  tested=(-c release --scratch-path .build/tested -debug-info-format none -Xswiftc -enable-testing)
  # Package.swift reads it.
  export FIELDPACK_TESTED=1
}

# Builds the package of a folder, which depends on this one, in the folder of that build: nothing is
# compiled twice. SwiftPM would take the other package's plan for this one's if it were kept.
build_beside() (
  folder=$1
  trap 'rm -f .build/tested/release.yaml' EXIT
  build "${tested[@]}" --package-path "$folder" --disable-build-manifest-caching
)

# Runs a build; a warning in our own sources counts as an error.
build() {
  local log status=0
  log=$(mktemp)
  # SwiftPM gives the compiler the traits in the order of a set. Another order is another command, for which
  # everything is compiled again.
  SWIFT_DETERMINISTIC_HASHING=1 swift build "$@" </dev/null 2>&1 | tee "$log" | build_lines || status=1
  if [ "$status" -eq 0 ] && grep -qE '/(Sources|Tests)/[^:]+:[0-9]+:[0-9]+: warning:' "$log"; then
    status=1
    note "warnings count as errors"
  fi
  rm -f "$log"
  [ "$status" -eq 0 ] || fail "swift build $* failed"
}
