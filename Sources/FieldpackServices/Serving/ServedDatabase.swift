package import FieldpackCore

/// A database that a server serves: what a GeoPackage has of its own, such as its place in a folder, is
/// done here in another way.
package protocol ServedDatabase: ServedStore {
  /// The layers as a store.
  var layers: any Store { get }

  /// Asks the database whether it answers.
  ///
  /// - Throws: why it does not.
  func check() async throws(FieldpackError)

  /// Writes features of a layer into a new GeoPackage.
  ///
  /// - Parameters:
  ///   - isWhole: whether the query asks for the whole layer. The log of a layer comes along then.
  ///   - pending: the file to fill, which keeps its hidden name.
  func extract(
    _ query: Query, of layer: LayerID, isWhole: Bool, into pending: PendingFile
  ) async throws(FieldpackError)

  // MARK: What happens

  /// The logs of the layers that have one, as they are now.
  func changeLogs() async throws(FieldpackError) -> [ServedLog]
  /// The edits of a layer behind a position of its log, in their order.
  func changes(
    of layer: LayerID, after position: Int64, limit: Int
  ) async throws(FieldpackError) -> [ServedChange]
  /// The position before the first edit of that time or later.
  func position(before time: Instant, of layer: LayerID) async throws(FieldpackError) -> Int64
  /// Calls `tell` whenever something may have been committed to a logged layer, until the task is cancelled
  /// or the store is closed.
  func listenForCommits(_ tell: @Sendable () -> Void) async throws(FieldpackError)
}

/// The change log of a layer.
package struct ServedLog: Sendable {
  package var schema: Schema
  /// The UUID that copies of the log share.
  package var origin: String
  /// The position of the last edit.
  package var head: Int64

  package init(schema: Schema, origin: String, head: Int64) {
    (self.schema, self.origin, self.head) = (schema, origin, head)
  }
}

/// An edit of a log, with the feature before and after it in longitude and latitude.
package struct ServedChange: Sendable {
  package var position: Int64
  package var kind: ChangeLog.Kind
  /// The UUID of the edit.
  package var id: String
  package var feature: FeatureID
  package var time: Instant?
  /// The feature after the edit; of a deletion, as it was before.
  package var state: Feature?
  /// A feature that was updated, as it was before.
  package var before: Feature?

  package init(
    position: Int64, kind: ChangeLog.Kind, id: String, feature: FeatureID, time: Instant?,
    state: Feature?, before: Feature?
  ) {
    (self.position, self.kind, self.id) = (position, kind, id)
    (self.feature, self.time) = (feature, time)
    (self.state, self.before) = (state, before)
  }
}
