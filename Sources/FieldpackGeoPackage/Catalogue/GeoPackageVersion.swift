/// A version of the GeoPackage standard that new files can have.
public enum GeoPackageVersion: String, Hashable, Sendable, CaseIterable {
  case v12 = "1.2"
  case v13 = "1.3"
  case v14 = "1.4"

  /// The value of `PRAGMA user_version`: 10200, 10300 or 10400.
  package var userVersion: Int {
    switch self {
    case .v12: 10200
    case .v13: 10300
    case .v14: 10400
    }
  }

  /// `GPKG` in ASCII.
  package static let applicationID: Int64 = 0x4750_4B47
}

/// Which set of R-tree triggers a file uses.
package enum RTreeTriggerSet: Hashable, Sendable {
  /// `update1` to `update4`, up to GeoPackage 1.3.
  case upTo13
  /// `update6`, `update7` and `update5` instead of `update1` and `update3`, from 1.4 on.
  case from14

  /// The set for files with that `user_version`.
  package init(userVersion: Int64) { self = userVersion >= 10_400 ? .from14 : .upTo13 }
}
