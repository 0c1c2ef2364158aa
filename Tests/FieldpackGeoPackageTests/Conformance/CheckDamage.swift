import Testing

@testable import FieldpackCheck
@testable import FieldpackGeoPackage

/// One way to damage a file, and what a check says of it.
struct CheckDamage: Sendable, CustomTestStringConvertible {
  var name: String
  var version = GeoPackageVersion.v14
  var sql: String
  /// As ``ConformanceFinding/line``.
  var findings: [String]
  var repairs: [String] = []
  /// What a repair leaves.
  var left: [String] = []
  /// What GDAL's validator finds in the mended file nevertheless; each is said to be wrong there.
  var falseAlarms: [Substring] = []
  /// Whether a repair changes rows of users, as headers of geometries.
  var changesRows = false

  static let all: [CheckDamage] =
    container + contents + tiles + coverage + indexes + registrations + extensions + views
    + upkeep

  var testDescription: String { name }
}
