package import FieldpackCore
package import FieldpackGeoPackage
import FieldpackSQLite

/// A new file that is a copy of layers of a receiver: what it has to know so that the first
/// synchronisation sends nothing of what it was made with, and asks for nothing of it.
package struct SyncStart: Sendable {
  package struct Layer: Sendable {
    package var name: LayerID
    /// The UUID of the receiver's log.
    package var origin: String
    /// The place in the receiver's log that the copy shows.
    package var position: Int64
    /// The UUID of the edit at that place; `nil` at the beginning of the log.
    package var edit: String?
    /// Features whose identity is not told by the origin and their id.
    package var identities: [(feature: Int64, identity: String)]

    package init(
      name: LayerID, origin: String, position: Int64, edit: String?,
      identities: [(feature: Int64, identity: String)]
    ) {
      (self.name, self.origin, self.position) = (name, origin, position)
      (self.edit, self.identities) = (edit, identities)
    }
  }

  package var layers: [Layer]
  /// The UUID of the receiver.
  package var receiver: String
  /// What errors call the receiver.
  package var name: String

  package init(layers: [Layer], receiver: String, name: String) {
    (self.layers, self.receiver, self.name) = (layers, receiver, name)
  }

  /// Begins the logs of the layers, in a file that has none.
  package func write(to writer: GeoPackageWriter) throws(FieldpackError) {
    for layer in layers {
      try writer.beginLog(of: layer.name, origin: layer.origin, identities: layer.identities)
    }
    try SyncTables.create(in: writer)
    for layer in layers {
      try PullRecords(layer: layer.name, snapshot: writer).save(
        .init(first: 1, last: 0, position: layer.position, edit: layer.edit), writer)
    }
    try SyncTables.setReceiver(receiver, called: name, writer)
  }
}
