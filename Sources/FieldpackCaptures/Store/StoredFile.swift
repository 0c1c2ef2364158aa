package import FieldpackCore
import FieldpackField
import FieldpackGeoPackage

/// What a file is to its capture.
package enum CaptureRole: String, Hashable, Sendable {
  case media, thumbnail
}

/// A row of the layer `media` without its bytes.
package struct StoredFile: Hashable, Sendable {
  package var id: FeatureID
  package var role: CaptureRole
  package var name: String?
  package var contentType: String
  var width: Int?
  var height: Int?
  package var byteCount: Int
  package var sha256: String

  init?(_ row: Feature) {
    guard let id = row.id,
      let role = row[Column<String>("role")].flatMap(CaptureRole.init)
    else { return nil }
    self.id = id
    self.role = role
    name = row[Column<String>("file_name")]
    contentType = row[Column<String>("content_type")] ?? MediaType.unknown
    width = row[Column<Int>("width_px")]
    height = row[Column<Int>("height_px")]
    byteCount = row[Column<Int>("byte_count")] ?? 0
    sha256 = row[Column<String>("sha256")] ?? ""
  }
}

extension StoredFile {
  static func query(_ ids: [FeatureID]) -> Query {
    let numbers = ids.compactMap { if case .integer(let id) = $0 { id } else { nil } }
    return Query(CaptureLayers.media, where: Column<Int64>("id").isIn(numbers)).select([
      "role", "file_name", "content_type", "width_px", "height_px", "byte_count", "sha256",
    ])
  }
}

extension GeoPackageSnapshot {
  /// What is known of a capture's files.
  borrowing func files(of capture: FeatureID) throws(FieldpackError) -> [StoredFile] {
    guard let relation = CaptureLayers.relation(try relations()) else { return [] }
    return try features(StoredFile.query(related(to: capture, by: relation)))
      .compactMap(StoredFile.init)
  }
}

extension CaptureCatalogue {
  /// What is known of a capture's files.
  package func files(of capture: Capture) async throws(FieldpackError) -> [StoredFile] {
    try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.files(of: capture.key.feature)
    }
  }
}
