import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMedia

/// Captures as rows, in a writer's transaction.
struct CaptureRows {
  let relation: Relation

  // MARK: Writing

  /// What became of a capture that was brought to a file.
  struct Outcome: Sendable {
    var id: FeatureID
    /// Whether the file had it before.
    var isKnown: Bool
    /// How many files were added to one that the file had before.
    var added: Int
  }

  /// Stores a capture. Where the file has one of that token, it gets the files that it lacks.
  static func take(
    _ found: FoundCapture, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> Outcome {
    let rows = CaptureRows(relation: try CaptureLayers.prepare(writer))
    let same = try writer.features(
      Query(CaptureLayers.capture, where: Column<String>("token") == found.info.token)
        .withoutGeometry().select([]))
    guard let id = same.first?.id else {
      return Outcome(id: try rows.store(found, writer), isKnown: false, added: 0)
    }
    return Outcome(id: id, isKnown: true, added: try rows.storeFiles(of: found, id, writer))
  }

  /// Stores a capture that is not there yet.
  func store(
    _ found: FoundCapture, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> FeatureID {
    let id = try writer.create(
      Feature(
        geometry: .point(found.info.position, .xy),
        attributes: Self.attributes(of: found.info, found.geodata)), in: CaptureLayers.capture)
    guard case .integer(let number) = id else { return id }
    try storePoints(found.geodata.points, of: number, writer)
    try storeFiles(of: found, id, writer)
    return id
  }

  private func storePoints(
    _ points: [CapturePoint], of capture: Int64, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    for (index, point) in points.enumerated() {
      try writer.create(
        Feature(
          geometry: .point(x: point.longitude, y: point.latitude),
          attributes: [
            "capture_fid": .integer(capture), "seq": .integer(Int64(index)),
            "t_s": .real(point.time), "heading_deg": Self.real(point.heading),
            "accuracy_m": Self.real(point.accuracy), "extra_json": Self.text(point.extraJSON),
          ]), in: CaptureLayers.point)
    }
    guard points.count >= 2, let first = points.first, let last = points.last else { return }
    let line = CoordinateSequence(points.map(\.position), dimensions: .xym)
    try writer.create(
      Feature(
        geometry: .lineString(line),
        attributes: [
          "capture_fid": .integer(capture), "point_count": .integer(Int64(points.count)),
          "duration_s": .real(last.time - first.time),
        ]), in: CaptureLayers.track)
  }

  /// Stores the files of a capture that are not there yet; gives how many.
  @discardableResult
  func storeFiles(
    of found: FoundCapture, _ id: FeatureID, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> Int {
    let related = try writer.related(to: id, by: relation)
    let known = Set(
      try writer.features(StoredFile.query(related)).compactMap(StoredFile.init).map(\.role)
    )
    var stored = 0
    for (role, file) in [(CaptureRole.media, found.media), (.thumbnail, found.thumbnail)] {
      guard let file, !known.contains(role) else { continue }
      try store(file, as: role, of: id, writer)
      stored += 1
    }
    return stored
  }

  private func store(
    _ file: CaptureFile, as role: CaptureRole, of id: FeatureID, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    let head = try file.content.prefix(Self.longestHead)
    let digest = if let known = file.sha256 { known } else { try file.content.sha256() }
    let size = PictureSize(of: head)
    func number(_ value: Int?) -> Value { value.map { .integer(Int64($0)) } ?? .null }
    let attributes: Attributes = [
      "role": .text(role.rawValue), "file_name": .text(file.name),
      "width_px": number(size?.width), "height_px": number(size?.height),
      "byte_count": number(file.content.count),
      "sha256": .text(digest),
    ]
    _ = try file.content.withBytes { (bytes) throws(FieldpackError) in
      try writer.addMedia(
        bytes.bytes, as: MediaType(head)?.rawValue ?? MediaType.unknown, attributes: attributes,
        to: CaptureLayers.media, relatedTo: id, by: relation)
    }
  }

  /// The size of a picture is looked for in so many bytes.
  private static let longestHead = 4 << 20

  /// Deletes a capture with its points, its line, its jobs, and the files that nothing else has.
  func delete(
    _ capture: Capture, _ writer: GeoPackageWriter, _ deleted: inout DeletedFeatures
  ) throws(FieldpackError) {
    let id = capture.key.feature
    deleted.add(of: CaptureLayers.capture)
    let files = try writer.related(to: id, by: relation)
    if case .integer(let number) = id {
      for layer in [CaptureLayers.point, CaptureLayers.track] {
        let rows = try writer.features(
          Query(layer, where: Column<Int64>("capture_fid") == number).withoutGeometry().select([]))
        for row in rows.compactMap(\.id) {
          try writer.delete(row, in: layer)
          deleted.add(of: layer)
        }
      }
    }
    try writer.delete(id, in: CaptureLayers.capture)
    let jobs = try CaptureLayers.jobs.delete(of: .text(capture.info.token), writer)
    deleted.add(jobs, of: CaptureLayers.job)
    try MediaLayer.deleteUnused(files, writer, &deleted)
  }

  // MARK: Values

  static func attributes(of info: CaptureInfo, _ geodata: CaptureGeodata) -> Attributes {
    [
      "token": .text(info.token), "title": .text(info.title),
      "media_type": .text(info.kind.rawValue), "heading": real(info.heading),
      "orientation": text(info.orientation?.rawValue),
      "created_at": .dateTime(instant(info.createdAt)), "created_at_unix": .real(info.createdAt),
      "uploaded_at": info.uploadedAt.map { .dateTime(instant($0)) } ?? .null,
      "uploaded_at_unix": .real(info.uploadedAtStated), "geodata_file": .text(info.geodataFile),
      "thumbnail_file": .text(info.thumbnailFile), "media_file": .text(info.mediaFile),
      "extra_json": text(info.extraJSON), "geodata_extra_json": text(geodata.extraJSON),
    ]
  }

  static func instant(_ unix: Double) -> Instant {
    Instant(milliseconds: Int64((unix * 1000).rounded(.down)))
  }

  private static func real(_ value: Double?) -> Value { value.map(Value.real) ?? .null }
  private static func text(_ value: String?) -> Value { value.map(Value.text) ?? .null }
}

extension CaptureInfo {
  /// A row of the layer `capture`; `nil` where it lacks what every capture has.
  init?(_ row: Feature) {
    func text(_ name: String) -> String? { row[Column<String>(name)] }
    guard let token = text("token"), let kind = text("media_type").flatMap(MediaKind.init),
      case .point(let position?, _)? = row.geometry,
      let createdAt = row[Column<Double>("created_at_unix")]
    else { return nil }
    self.init(
      token: token, kind: kind, longitude: position.x, latitude: position.y,
      heading: row[Column<Double>("heading")], createdAt: createdAt)
    title = text("title") ?? Self.untitled
    orientation = text("orientation").flatMap(Orientation.init)
    uploadedAtStated = row[Column<Double>("uploaded_at_unix")] ?? 0
    if let file = text("geodata_file") { geodataFile = file }
    if let file = text("thumbnail_file") { thumbnailFile = file }
    if let file = text("media_file") { mediaFile = file }
    extraJSON = text("extra_json")
  }
}

extension CapturePoint {
  /// A row of the layer `capture_point`.
  init?(_ row: Feature) {
    guard case .point(let position?, _)? = row.geometry, let time = row[Column<Double>("t_s")]
    else { return nil }
    self.init(
      time: time, longitude: position.x, latitude: position.y,
      heading: row[Column<Double>("heading_deg")], accuracy: row[Column<Double>("accuracy_m")])
    extraJSON = row[Column<String>("extra_json")]
  }
}
