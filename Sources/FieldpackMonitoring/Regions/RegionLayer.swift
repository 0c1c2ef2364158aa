public import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
public import FieldpackLocation

/// A layer whose features are the regions of a monitor.
///
/// ``regions()`` gives a packed copy of the layer, which is made anew when the layer has changed.
/// Changes of GeoPackages are noticed whether this store, another one or another program commits
/// them; other stores do not change while they are open.
///
/// Features of points are circles of the radius in the radius column, or of the default radius where
/// that is NULL or absent. Features without a geometry, or with an empty one, are left out. Geometries
/// are transformed to longitude and latitude as by `Query.transformed(to:)`, position by position;
/// curves are then linearised.
public final class RegionLayer: Sendable {
  public let layer: LayerID
  private let store: any Store
  private let radius: Double?
  private let radiusColumn: String?
  private let kept = Locked<Kept?>(nil)
  private let changes: Changes

  /// How changes of the layer are noticed.
  private enum Changes {
    /// The layer does not change.
    case never
    /// The GeoPackage is looked at, by the number of the watch.
    case watched(GeoPackageStore, Int)
    case told(Teller)
  }

  /// Gives a text that is another one after each change of the layer; `nil` where changes cannot be noticed.
  package typealias Teller = @Sendable () async throws(FieldpackError) -> String?

  private struct Kept {
    let regions: WatchedRegions
    let version: Version
  }

  private enum Version: Equatable {
    case only
    case content(ContentVersion)
    case told(String)
  }

  /// The column of the radii where none is named.
  public static let radiusColumn = "radius_m"

  /// - Parameters:
  ///   - radius: the radius in metres of points without one of their own.
  ///   - radiusColumn: the column with radii in metres; by default `radius_m`, where there is one.
  public init(
    _ layer: LayerID, of store: any Store, radius: Double? = nil, radiusColumn: String? = nil
  ) {
    self.layer = layer
    self.store = store
    self.radius = radius
    self.radiusColumn = radiusColumn
    changes = store.geoPackage.map { .watched($0, $0.beginWatching()) } ?? .never
  }

  /// The regions of a store that tells when its layer changes; without a text they are read each time.
  package init(_ layer: LayerID, of store: any Store, changes: @escaping Teller) {
    (self.layer, self.store, radius, radiusColumn) = (layer, store, nil, nil)
    self.changes = .told(changes)
  }

  /// Which regions it gives, as the parameters of a run tell it.
  package var text: String {
    "layer=\(store.id):\(layer)" + (radius.map { " radius=\($0)" } ?? "")
      + (radiusColumn.map { " radius-column=\($0)" } ?? "")
  }

  deinit {
    if case .watched(let store, let watcher) = changes { store.endWatching(watcher) }
  }

  /// The regions as the layer has them now.
  ///
  /// - Throws: `.notFound` for a missing layer or column; `.invalidData`, naming the feature, for
  ///   one that cannot be watched; and what reading the store throws.
  public func regions() async throws(FieldpackError) -> WatchedRegions {
    // Asked before reading: what is committed meanwhile is found the next time.
    let version = try await version()
    if let kept = kept.withLock({ $0 }), kept.version == version { return kept.regions }
    let regions = try await read()
    kept.withLock { $0 = version.map { Kept(regions: regions, version: $0) } }
    return regions
  }

  private func version() async throws(FieldpackError) -> Version? {
    switch changes {
    case .never: .only
    case .watched(let store, let watcher):
      .content(try await store.contentVersion(of: layer, for: watcher))
    case .told(let tell): try await tell().map { .told($0) }
    }
  }

  private func read() async throws(FieldpackError) -> WatchedRegions {
    var query = Query(layer).transformed(to: .wgs84)
    if let schema = try await store.schemas().first(where: { $0.layer == layer }) {
      query = query.select(try column(in: schema).map { [schema.columns[$0].name] } ?? [])
    }
    var regions: [WatchedRegion] = []
    var empty = 0
    for try await batch in try await store.query(query) {
      let column = try column(in: batch.schema)
      for index in 0..<batch.count {
        let row = batch[index]
        let key = KeyTuple(store: store.id, layer: layer, feature: row.id)
        guard let geometry = try row.geometry(key: key), !geometry.isEmpty else {
          empty += 1
          continue
        }
        let own = column.flatMap { row.kind(at: $0) == .null ? nil : row.real(at: $0) }
        regions.append(WatchedRegion(id: row.id, geometry: geometry, radius: own ?? radius))
      }
    }
    let notes =
      empty == 0
      ? [] : ["\(empty) feature\(empty == 1 ? "" : "s") of layer '\(layer)' without a geometry"]
    do throws(FieldpackError) {
      return try WatchedRegions(regions, notes: notes)
    } catch {
      throw error.adding(location: .init(store: store.id, layer: layer))
    }
  }

  /// Index of the column of the radii.
  private func column(in schema: Schema) throws(FieldpackError) -> Int? {
    guard schema.geometry != nil else {
      throw FieldpackError(
        .invalidData, "layer '\(layer)' has no geometry. Try: a layer of areas or points",
        location: .init(store: store.id, layer: layer))
    }
    if let index = schema.columnIndex(radiusColumn ?? Self.radiusColumn) { return index }
    guard let radiusColumn else { return nil }
    throw schema.unknownColumn(radiusColumn).adding(location: .init(store: store.id))
  }
}

extension GeofenceMonitor {
  /// The detections in the fixes that a source gives from now on. The layer is looked at again
  /// before each batch of fixes.
  ///
  /// - Parameter first: the number of the source's first fix.
  public func detections(
    of source: some LocationSource, watching layer: RegionLayer, from first: Int = 0
  ) -> Detections {
    Detections(self, of: source.updates(), from: first, refresh: layer.refresh)
  }
}

extension RegionLayer {
  /// Has a ``GeofenceMonitor`` watch the regions as the layer has them now; gives whether these are others.
  package var refresh: Detections.MonitorRefresh {
    { (monitor) throws(FieldpackError) in
      guard var watching = monitor as? GeofenceMonitor else { return false }
      let regions = try await self.regions()
      guard regions !== watching.regions else { return false }
      watching.watch(regions)
      monitor = watching
      return true
    }
  }
}
