import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// What GDAL says of a file that we wrote.
enum GDALChecks {
  /// Asks SQLite and each validator at hand; the one that does not know version 1.4 is left out
  /// there.
  ///
  /// - Parameter falseAlarm: what a validator may say nevertheless, any number of times.
  static func expectValid(
    _ package: TestPackage, _ version: GeoPackageVersion, besides falseAlarm: Substring? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    #expect(try package.faults() == [], sourceLocation: sourceLocation)
    for validator in Programs.validators where version != .v14 || validator.knowsVersion14 {
      let (lines, status) = try await verdicts(on: [package], by: validator)[0]
      #expect(
        lines.filter { $0 != falseAlarm } == [], "\(validator.python)",
        sourceLocation: sourceLocation)
      #expect(
        status == (lines.isEmpty ? 0 : 1), "\(validator.python)", sourceLocation: sourceLocation)
    }
  }

  /// All that a validator finds in each of the files, and its exit status. One process looks at all of
  /// them, since its start takes longer than its look.
  static func verdicts(
    on packages: [TestPackage], by validator: Programs.Validator
  ) async throws -> [(lines: [Substring], status: Int)] {
    let script = """
      import os, sys
      from osgeo_utils.samples import validate_gpkg
      os.dup2(1, 2)
      for path in sys.argv[1:]:
        status = validate_gpkg.main(["", "-k", "--extra", path])
        print(f"\\0{status}\\0", end="", flush=True)
      """
    let result = try await Program.run(
      validator.python, ["-c", script] + packages.map(\.path))
    let parts = result.output.split(separator: "\0", omittingEmptySubsequences: false)
    try #require(parts.count == packages.count * 2 + 1, "\(result)")
    return try packages.indices.map { index in
      let status = try #require(Int(parts[index * 2 + 1]))
      return (parts[index * 2].split(separator: "\n"), status)
    }
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
