package import FieldpackCore
import FieldpackSQLite

extension GeoPackageWriter {
  /// Begins the log of a layer that was copied from another store, where it has a log.
  ///
  /// - Parameters:
  ///   - origin: the UUID of the log in the other store.
  ///   - identities: of the features whose identity does not follow from `origin` and their ids.
  package func beginLog(
    of layer: LayerID, origin: String, identities: [(feature: Int64, identity: String)]
  ) throws(FieldpackError) {
    let table = try table(layer).table
    try whole { () throws(FieldpackError) in
      let log = try EditLog.enable(table, in: file)
      try file.execute(
        "UPDATE \(LogTables.registry) SET origin = ? WHERE table_name = ?",
        [.text(origin), .text(table)])
      for (feature, identity) in identities {
        try log.setIdentity(identity, of: feature, since: 0)
      }
    }
  }
}
