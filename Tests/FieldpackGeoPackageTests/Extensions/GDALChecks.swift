import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// What GDAL says of a file that we wrote.
enum GDALChecks {
  /// Asks SQLite and each validator at hand; the one that does not know version 1.4 is left out
  /// there.
  ///
  /// - Parameters:
  ///   - falseAlarm: what a validator may say nevertheless, any number of times.
  ///   - others: what it has to say besides, in its order.
  static func expectValid(
    _ package: TestPackage, _ version: GeoPackageVersion, besides falseAlarm: Substring? = nil,
    and others: [Substring] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    #expect(try package.faults() == [], sourceLocation: sourceLocation)
    for validator in Programs.validators where version != .v14 || validator.knowsVersion14 {
      let (lines, status) = try await verdict(on: package, by: validator)
      #expect(
        lines.filter { $0 != falseAlarm } == others, "\(validator.python)",
        sourceLocation: sourceLocation)
      #expect(
        status == (lines.isEmpty ? 0 : 1), "\(validator.python)", sourceLocation: sourceLocation)
    }
  }

  /// All that a validator finds, and its exit status.
  static func verdict(
    on package: TestPackage, by validator: Programs.Validator
  ) async throws -> (lines: [Substring], status: Int32) {
    let result = try await Program.run(
      validator.python,
      ["-m", "osgeo_utils.samples.validate_gpkg", "-k", "--extra", package.path])
    return ((result.output + result.error).split(separator: "\n"), result.status)
  }

  /// What a script prints that has `gdal`, `ogr` and the file's `path`.
  static func python(_ script: String, _ package: TestPackage) async throws -> [String] {
    let head = "import sys\nfrom osgeo import gdal, ogr\ngdal.UseExceptions()\npath = sys.argv[1]\n"
    let result = try await Program.run(
      Programs.gdalPython ?? "", ["-c", head + script, package.path])
    #expect(result.error == "")
    return result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map(String.init)
  }
}
