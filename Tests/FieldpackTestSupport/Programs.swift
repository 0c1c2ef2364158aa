import Foundation

/// Programs of other makers that judge what we write. They are asked only where they are installed;
/// a test that needs one is enabled by it and says in its comment why it is skipped.
public enum Programs {
  /// A Python with `osgeo_utils`, whose `validate_gpkg` judges GeoPackages.
  public struct Validator: Sendable {
    public let python: String
    /// Whether it finds nothing in a right file of GeoPackage 1.4; GDAL 3.6 takes the R-tree
    /// triggers of that version for a fault.
    public let knowsVersion14: Bool

    /// `nil` where the Python is not there, or has no `osgeo_utils`.
    fileprivate init?(python: String) {
      guard Programs.isRunnable(python),
        Programs.succeeds(python, ["-c", "import osgeo_utils"])
      else { return nil }
      self.python = python
      let right = Checkout.file("TestData/gpkg/gdal-3.12.gpkg").path
      // Asked so, and not by what its source says, which changes from one version to the next.
      knowsVersion14 = Programs.succeeds(
        python, ["-m", "osgeo_utils.samples.validate_gpkg", "-k", "--extra", right])
    }
  }

  /// The one that `FIELDPACK_VALIDATE_PYTHON` names, else that of `.build/venv` and the system's.
  public static let validators: [Validator] =
    named("FIELDPACK_VALIDATE_PYTHON").map { $0.compactMap(Validator.init) }
    ?? [environmentValidator, Validator(python: "/usr/bin/python3")].compactMap(\.self)

  /// That of `.build/venv`, which pip keeps new; `nil` where it is not installed.
  public static let environmentValidator = Validator(python: environmentPython)

  public static let noValidator: String =
    "no Python with osgeo_utils: install python3-gdal or set FIELDPACK_VALIDATE_PYTHON"

  /// GDAL's `ogr2ogr`; `nil` where it is not installed.
  public static let ogr2ogr: String? = found("ogr2ogr")
  public static let noOGR = "ogr2ogr is not installed: install gdal-bin"

  /// GDAL's `gdalwarp`; `nil` where it is not installed.
  public static let gdalwarp: String? = found("gdalwarp")
  public static let noGDALWarp = "gdalwarp is not installed: install gdal-bin"

  /// Makes and decodes pictures and videos; `nil` where it is not installed.
  public static let ffmpeg: String? = found("ffmpeg")
  public static let noFFmpeg = "ffmpeg is not installed"
  /// Whether it can make videos of H.264.
  public static let hasH264: Bool =
    ffmpeg.flatMap { try? output($0, ["-v", "quiet", "-encoders"]) }?.contains(" libx264 ") ?? false
  public static let noH264 = "there is no ffmpeg with libx264"

  /// A browser that draws maps: the one that `FIELDPACK_CHROMIUM` names, else Debian's; `nil` where there
  /// is none.
  public static let chromium: String? =
    named("FIELDPACK_CHROMIUM")?.first(where: isRunnable) ?? found("chromium")
  public static let noChromium = "there is no browser: install chromium or set FIELDPACK_CHROMIUM"

  /// Runs JavaScript, version 18 or later; `nil` where it is not installed.
  public static let node: String? = found("node").flatMap {
    succeeds($0, ["-e", "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)"]) ? $0 : nil
  }
  public static let noNode = "node is not installed, or older than 18: install nodejs"

  /// Says whether XML is well-formed; `nil` where it is not installed.
  public static let xmllint: String? = found("xmllint")
  public static let noXMLLint = "xmllint is not installed: install libxml2-utils"

  /// SQLite's shell; `nil` where it is not installed.
  public static let sqlite3: String? = found("sqlite3")
  public static let noSQLite = "sqlite3 is not installed"

  /// A Python with `pyarrow` and `pyogrio`: the one that `FIELDPACK_ARROW_PYTHON` names, else that of
  /// `.build/venv`.
  public static let arrowPython: String? = (named("FIELDPACK_ARROW_PYTHON") ?? [environmentPython])
    .first { isRunnable($0) && succeeds($0, ["-c", "import pyarrow, pyogrio"]) }
  public static let noArrowPython =
    "no Python with pyarrow and pyogrio: set FIELDPACK_ARROW_PYTHON"

  /// A Python with `shapely`: the one that `FIELDPACK_SHAPELY_PYTHON` names, else that of `.build/venv`.
  public static let shapelyPython: String? =
    (named("FIELDPACK_SHAPELY_PYTHON") ?? [environmentPython])
    .first { isRunnable($0) && succeeds($0, ["-c", "import shapely"]) }
  public static let noShapelyPython = "no Python with shapely: set FIELDPACK_SHAPELY_PYTHON"

  /// A Python with `gpxpy`: the one that `FIELDPACK_GPXPY_PYTHON` names, else that of `.build/venv`.
  public static let gpxpyPython: String? = (named("FIELDPACK_GPXPY_PYTHON") ?? [environmentPython])
    .first { isRunnable($0) && succeeds($0, ["-c", "import gpxpy"]) }
  public static let noGPXPyPython = "no Python with gpxpy: set FIELDPACK_GPXPY_PYTHON"

  /// A Python with `jsonschema`: the one that `FIELDPACK_JSONSCHEMA_PYTHON` names, else that of
  /// `.build/venv`.
  public static let jsonschemaPython: String? =
    (named("FIELDPACK_JSONSCHEMA_PYTHON") ?? [environmentPython])
    .first { isRunnable($0) && succeeds($0, ["-c", "import jsonschema, referencing"]) }
  public static let noJSONSchemaPython =
    "no Python with jsonschema: set FIELDPACK_JSONSCHEMA_PYTHON"

  /// A Python with `openapi_spec_validator`: the one that `FIELDPACK_OPENAPI_PYTHON` names, else that
  /// of `.build/venv`.
  public static let openAPIPython: String? =
    (named("FIELDPACK_OPENAPI_PYTHON") ?? [environmentPython])
    .first { isRunnable($0) && succeeds($0, ["-c", "import openapi_spec_validator"]) }
  public static let noOpenAPIPython =
    "no Python with openapi-spec-validator: set FIELDPACK_OPENAPI_PYTHON"

  /// Tests servers by their API documents: the one that `FIELDPACK_SCHEMATHESIS` names, else that of
  /// `.build/venv`.
  public static let schemathesis: String? =
    (named("FIELDPACK_SCHEMATHESIS") ?? [Checkout.file(".build/venv/bin/schemathesis").path])
    .first(where: isRunnable)
  public static let noSchemathesis = "schemathesis is not installed: set FIELDPACK_SCHEMATHESIS"

  /// A Python with `owslib`: the one that `FIELDPACK_OWSLIB_PYTHON` names, else that of
  /// `.build/venv`.
  public static let owslibPython: String? =
    (named("FIELDPACK_OWSLIB_PYTHON") ?? [environmentPython])
    .first { isRunnable($0) && succeeds($0, ["-c", "import owslib.wfs"]) }
  public static let noOWSLibPython = "no Python with owslib: set FIELDPACK_OWSLIB_PYTHON"

  /// MapServer as a CGI program; `nil` where it is not installed.
  public static let mapserv: String? = found("mapserv")
  public static let noMapServer = "mapserv is not installed: install cgi-mapserver"

  /// QGIS Server as a program that listens by itself; `nil` where it is not installed.
  public static let qgisServer: String? = found("qgis_mapserver")
  public static let noQGISServer = "qgis_mapserver is not installed: install qgis-server"

  /// Python 3 with nothing but its library; `nil` where it is not installed.
  public static let python: String? = found("python3")
  public static let noPython = "python3 is not installed"

  /// `nil` where it is not installed.
  public static let curl: String? = found("curl")
  public static let noCurl = "curl is not installed"

  /// What a program writes to its standard output.
  public static func output(_ program: String, _ arguments: [String]) throws -> String {
    Gate.expectPrograms()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  /// A Python with GDAL's own bindings; `nil` where there is none.
  public static let gdalPython: String? = ["/usr/bin/python3", environmentPython]
    .first { isRunnable($0) && succeeds($0, ["-c", "from osgeo import gdal, ogr"]) }
  public static let noGDALPython = "no Python with osgeo: install python3-gdal"

  /// A Python with QGIS's bindings; `nil` where there is none.
  public static let qgisPython: String? = (named("FIELDPACK_QGIS_PYTHON") ?? ["/usr/bin/python3"])
    .first { isRunnable($0) && succeeds($0, ["-c", "import qgis.core"]) }
  /// Whether it knows the relations of GeoPackages.
  public static let qgisKnowsRelations: Bool =
    qgisPython.map { python in
      let check = "from qgis.core import Qgis; assert Qgis.QGIS_VERSION_INT >= 33000"
      return succeeds(python, ["-c", check])
    } ?? false
  public static let noQGISPython = "no Python with qgis: install python3-qgis"

  private static var environmentPython: String {
    // Not by `..` and then made standard: that follows the link to a Python without our packages.
    Checkout.file(".build/venv/bin/python").path
  }

  private static func named(_ variable: String) -> [String]? {
    ProcessInfo.processInfo.environment[variable].map { [$0] }
  }

  private static func found(_ name: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(name)" }.first(where: isRunnable)
  }

  private static func isRunnable(_ path: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: path)
  }

  private static func succeeds(_ program: String, _ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus == 0
    } catch {
      return false
    }
  }
}
