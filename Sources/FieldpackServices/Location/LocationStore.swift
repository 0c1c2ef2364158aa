public import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
public import FieldpackLocation

/// The store of where the device was: a GeoPackage with the layer ``layer``, a point for each last known
/// position.
///
/// The columns are `accuracy`, the radius in metres as text, and `timestamp`, milliseconds since 1970.
/// The altitude is the Z of the point. Positions are added and never changed.
public final class LocationStore: Sendable {
  public static let id: StoreID = "LOCATION_STORE"
  /// What the apps of SpatialConnect call the store's file.
  public static let uri = "spacon_location_store.db"
  public static let layer: LayerID = "last_known_location"

  private let store: GeoPackageStore

  private init(_ store: GeoPackageStore) { self.store = store }

  /// Opens `LOCATION_STORE.gpkg` in a folder; both are made where they are missing.
  ///
  /// - Parameter usesWAL: as of `GeoPackageStore`.
  public static func open(
    folder: String, usesWAL: Bool = true
  ) async throws(FieldpackError) -> LocationStore {
    let store = try await BuiltInFile.open(id, in: folder, usesWAL: usesWAL)
    guard try await !store.schemas().contains(where: { $0.layer == layer }) else {
      return LocationStore(store)
    }
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.createLayer(
        Schema(
          layer: layer, idColumn: "id",
          geometry: GeometryColumn(type: .point, srs: .wgs84, z: .optional),
          columns: [
            ColumnDefinition("accuracy", .text()), ColumnDefinition("timestamp", .integer),
          ]))
    }
    return LocationStore(store)
  }

  /// The store for all who read it.
  public var readOnly: ReadOnlyStore { ReadOnlyStore(store) }

  /// Adds fixes, all of them or none.
  ///
  /// - Parameter now: the time of fixes that have none.
  @discardableResult
  public func add(_ fixes: [Fix], at now: Instant) async throws(FieldpackError) -> [FeatureID] {
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      var ids: [FeatureID] = []
      for fix in fixes { ids.append(try writer.create(Self.feature(of: fix, now), in: Self.layer)) }
      return ids
    }
  }

  private static func feature(of fix: Fix, _ now: Instant) -> Feature {
    let position = Position(x: fix.longitude, y: fix.latitude, z: fix.elevation ?? .nan)
    return Feature(
      geometry: .point(position, fix.elevation == nil ? .xy : .xyz),
      attributes: [
        "accuracy": fix.accuracy.map { Decimals.short($0) },
        "timestamp": (fix.time ?? now).milliseconds,
      ])
  }

  public func close() async { await store.close() }
}
