package import FieldpackCore
package import FieldpackGeometry

/// What a server serves: the layers of one store.
///
/// A GeoPackage is one, and a database with PostGIS another. A server asks nothing else of either to
/// answer for the addresses of OGC API Features.
package protocol ServedStore: Sendable {
  var id: StoreID { get }
  /// What tells the store from all others: the path of a file, or an address without a password.
  var place: String { get }
  /// The receiver of the edits that copies send.
  var peer: any SyncPeer { get }

  /// The layers with their extents, as far as these are found without long work, and without counts.
  func describedLayers() async throws(FieldpackError) -> [DescribedLayer]

  /// A text that is another one after each commit that changes the layer; `nil` where changes cannot be
  /// noticed. It may change with other commits, too.
  func version(of layer: LayerID) async throws(FieldpackError) -> String?
  /// As ``version(of:)``, but takes longer to find, and stays the same over more of the commits that change
  /// none of the layers. It is for what takes long to make.
  func counter(of layers: [LayerID]) async throws(FieldpackError) -> String?
  /// A condition that the features without geometry meet, which no index of envelopes has; `nil` where the
  /// layer certainly has none.
  ///
  /// - Parameter version: what ``version(of:)`` has given.
  func featuresWithoutGeometry(
    of layer: LayerID, _ version: String?
  ) async throws(FieldpackError) -> Filter?

  /// Runs `body` on one state of the store.
  func read<R: Sendable>(
    _ body: @Sendable (any ServedSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R
  /// As ``read(_:)``, for a short reading. `body` may run on the thread of the caller, and it may run again.
  func readSoon<R: Sendable>(
    _ body: @Sendable (any ServedSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R
  /// As ``readSoon(_:)`` on the thread of the caller, which it keeps for as long as the reading takes; `nil`
  /// where rows are not found in some milliseconds, and ``readSoon(_:)`` is to be asked.
  func readAtOnce<R>(
    _ body: (any ServedSnapshot) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R?
  /// Runs `body`, which only creates, updates and deletes features, as one change that happens as a
  /// whole or not at all. It returns once the change is durable.
  ///
  /// - Parameters:
  ///   - weight: how many features `body` makes.
  ///   - body: may run twice.
  func edit<R: Sendable>(
    weight: Int, _ body: @escaping @Sendable (any ServedWriting) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R
  /// The rule of the layer that a change has broken; `nil` for other errors.
  func brokenRule(_ error: FieldpackError) -> BrokenRule?

  /// Closes the connections that nobody has used since the last call, where the store keeps such.
  func closeUnusedConnections() async

  /// Transforms geometries from `srs` to the SRS of a layer. A layer without a defined SRS takes them as
  /// they are.
  func transformed(
    _ geometries: [Geometry], from srs: SRS, to layer: LayerID
  ) async throws(FieldpackError) -> [Geometry]
  /// Transforms geometries from the SRS of a layer to `srs`.
  func transformed(
    _ geometries: [Geometry], of layer: LayerID, to srs: SRS
  ) async throws(FieldpackError) -> [Geometry]
}

/// A layer as a server describes it.
package struct DescribedLayer: Hashable, Sendable {
  package var layer: Layer
  /// Whether the ids of the features are texts.
  package var hasTextIDs = false
  /// Whether a new feature has to bring its id, because the store gives none.
  package var takesIDs = false
  /// The columns that cannot be NULL and whose defaults only the store can compute, such as the present
  /// time; the other defaults are in the schema.
  package var computedDefaults: Set<String> = []
  /// What the user of the store may do to the features.
  package var rights: Rights = .all

  package struct Rights: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let create = Rights(rawValue: 1)
    package static let update = Rights(rawValue: 2)
    package static let delete = Rights(rawValue: 4)
    package static let all: Rights = [.create, .update, .delete]
  }

  package init(_ layer: Layer) { self.layer = layer }
}

/// One state of what a server serves.
package protocol ServedSnapshot: SnapshotReading {
  /// As ``SnapshotReading/count(_:)``; `nil` where the counting takes longer than `time`.
  func count(_ query: Query, within time: Duration) throws(FieldpackError) -> Int?
  /// Whether the features that touch a box, in the SRS of the layer, are certainly found quickly.
  func isFoundSoon(
    in layer: LayerID, touching box: Envelope
  ) throws(FieldpackError) -> Bool
}

/// A change of what a server serves.
package protocol ServedWriting: FeatureWriting {
  /// Keeps all others from changing a feature until the end of the change.
  func lock(_ id: FeatureID, in layer: LayerID) throws(FieldpackError)
  /// As ``FeatureWriting/update(_:in:set:geometry:)``, and gives some columns their defaults.
  func update(
    _ id: FeatureID, in layer: LayerID, set attributes: Attributes,
    toDefault columns: [ColumnDefinition], geometry: GeometryUpdate
  ) throws(FieldpackError)
}

/// A rule of a layer that a change has broken.
package struct BrokenRule: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// A column cannot be NULL.
    case notNull
    /// Another feature has the value.
    case unique
    /// A relation to another layer.
    case relation
    case other
  }

  package var kind: Kind
  /// The columns of the rule, as far as they are known.
  package var columns: [String]

  package init(_ kind: Kind, columns: [String] = []) {
    self.kind = kind
    self.columns = columns
  }
}
