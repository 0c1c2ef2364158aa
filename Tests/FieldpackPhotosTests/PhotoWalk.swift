import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackPhotos
import FieldpackTestSupport
import Foundation

/// A GeoPackage with a track whose points wait for pictures.
final class PhotoWalk: Sendable {
  let folder: TemporaryFolder
  let store: GeoPackageStore

  var path: String { store.path }

  /// - Parameter points: longitude and latitude of each point of track 1.
  init(_ points: [(Double, Double)]) async throws {
    folder = try TemporaryFolder()
    let path = folder.file("walk.gpkg").path
    let writer = try GeoPackageBulkWriter(creating: path, store: "walk")
    _ = try writer.commit()
    store = try await GeoPackageStore(path: path, id: "walk")
    try await store.write { (writer) throws(FieldpackError) in
      for schema in Self.schemas { try writer.createLayer(schema) }
      try writer.create(
        Feature(attributes: [
          "ordinal": 1, "monitor": "distance", "threshold_m": 100.0,
          "started_at": .dateTime(Self.start),
        ]), in: "track")
      for (number, point) in points.enumerated() {
        let time = Instant(milliseconds: Self.start.milliseconds + Int64(number) * 60_000)
        try writer.create(
          Feature(
            geometry: .point(x: point.0, y: point.1),
            attributes: [
              "track_fid": 1, "seq": .integer(Int64(number)), "time": .dateTime(time),
              "time_unix": .real(Double(time.milliseconds) / 1000), "id_md5": "",
            ]), in: "track_point")
      }
    }
  }

  static let start = Instant(milliseconds: 1_700_000_000_000)

  private static func required(_ name: String, _ type: ColumnType) -> ColumnDefinition {
    ColumnDefinition(name, type, isNullable: false)
  }

  private static let schemas = [
    Schema(
      layer: "track", geometry: GeometryColumn(type: .lineString),
      columns: [
        required("ordinal", .integer), required("monitor", .text()),
        required("threshold_m", .double), required("started_at", .dateTime),
      ]),
    Schema(
      layer: "track_point", geometry: GeometryColumn(type: .point),
      columns: [
        required("track_fid", .integer), required("seq", .integer), required("time", .dateTime),
        required("time_unix", .double), required("id_md5", .text()),
        ColumnDefinition("photo_state", .text(), isNullable: false, defaultSQL: "'pending'"),
      ]),
  ]

  /// Looks for pictures once; each outcome as `point state photo`.
  func fetch(
    _ provider: some PhotoProvider, _ settings: PhotoFetch.Settings = .init(),
    clock: FieldClock = .system
  ) async throws -> [String] {
    var lines: [String] = []
    let fetch = try await PhotoFetch(
      store: store, provider: provider, settings: settings, clock: clock)
    try await fetch.run { outcome in
      lines.append("\(outcome.point) \(outcome.state.rawValue) \(outcome.photo?.id ?? "-")")
    }
    return lines
  }

  /// What an SQL statement of the shell `sqlite3` could ask, here by the store.
  func features(_ layer: LayerID) async throws -> [Feature] {
    try await store.query(Query(layer)).features.reduce(into: []) { $0.append($1) }
  }

  /// The links of the points to photos, as `point photo rank chosen`.
  func links() async throws -> [String] {
    let photos = try await features("photo")
    return try await store.read { (snapshot) throws(FieldpackError) in
      guard let relation = try snapshot.relations().first(where: { $0.related == "photo" }) else {
        return []
      }
      return try snapshot.links(by: relation).map { link in
        let photo = photos.first { $0.id == link.related }?.attributes["photo_id"]
        let name: String = if case .text(let text) = photo { text } else { "?" }
        func number(_ column: String) -> Int64 {
          if case .integer(let value) = link.attributes[column] { value } else { -1 }
        }
        return "\(link.base) \(name) \(number("rank")) \(number("chosen"))"
      }
    }
  }

  /// Media without a photo, photos that were chosen without media, and links of nothing.
  func orphans() async throws -> [String] {
    let media = try await features("media").compactMap(\.id)
    return try await store.read { (snapshot) throws(FieldpackError) in
      let relations = try snapshot.relations()
      guard let pictures = relations.first(where: { $0.related == "media" }),
        let photos = relations.first(where: { $0.related == "photo" })
      else { return ["no relations"] }
      let pictured = try snapshot.links(by: pictures)
      let linked = Set(pictured.map(\.related))
      let bases = Set(pictured.map(\.base))
      return media.filter { !linked.contains($0) }.map { "media \($0)" }
        + linked.subtracting(media).map { "link to media \($0)" }
        + (try snapshot.links(by: photos)).filter {
          $0.attributes["chosen"] == .integer(1) && !bases.contains($0.related)
        }.map { "photo \($0.related)" }
    }
  }

  func states() async throws -> [String] {
    try await features("track_point").map { $0[Column<String>("photo_state")] ?? "?" }
  }
}
