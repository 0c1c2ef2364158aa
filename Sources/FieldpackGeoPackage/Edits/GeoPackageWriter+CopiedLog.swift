package import FieldpackCore
import FieldpackSQLite

extension GeoPackageWriter {
  /// Begins the log of a layer that is a copy of a logged one elsewhere.
  ///
  /// - Parameters:
  ///   - origin: the UUID of the log there.
  ///   - identities: of features that origin and id do not tell.
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
