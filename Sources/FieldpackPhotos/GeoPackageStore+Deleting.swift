public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage

extension GeoPackageStore {
  /// Deletes tracks with their points, in one transaction.
  ///
  /// A photo goes with its last point, a file of `media` with the last feature that has it. A
  /// recording's run goes with its last track, so that a new one of that name begins anew.
  /// - Throws: `.notFound` where there is no such track; nothing is deleted then.
  public func deleteTracks(_ ids: [Int64]) async throws(FieldpackError) -> DeletedFeatures {
    try await write { (writer) throws(FieldpackError) in
      var deletion = try Deletion(writer)
      for id in ids { try deletion.delete(track: id, writer) }
      return deletion.deleted
    }
  }

  /// Deletes photos with the files that nothing else has, in one transaction.
  ///
  /// A point whose picture it was has none then, and no other is looked for.
  /// - Parameter ids: of layer `photo`.
  /// - Throws: `.notFound` where there is no such photo; nothing is deleted then.
  public func deletePhotos(_ ids: [FeatureID]) async throws(FieldpackError) -> DeletedFeatures {
    try await write { (writer) throws(FieldpackError) in
      var deletion = try Deletion(writer)
      for id in ids { try deletion.delete(photo: id, writer) }
      return deletion.deleted
    }
  }
}

/// Deletes features and what belongs to them alone.
private struct Deletion {
  private(set) var deleted = DeletedFeatures()
  private let photos: PhotoLayers?
  private let layers: Set<LayerID>

  init(_ writer: GeoPackageWriter) throws(FieldpackError) {
    let relations = try writer.relations()
    photos = PhotoLayers(relations)
    if photos != nil { try PhotoLayers.layers.migrate(in: writer) }
    layers = Set(try writer.layers().map(\.id))
  }

  mutating func delete(track id: Int64, _ writer: GeoPackageWriter) throws(FieldpackError) {
    guard layers.contains(FieldData.track) else {
      throw FieldpackError(
        .notFound, "there is no track \(id)",
        location: .init(layer: FieldData.track, feature: .integer(id)))
    }
    deleted.add(of: FieldData.track)
    let runs = try self.runs(ofTrack: id, writer)
    var shown: Set<FeatureID> = []
    for point in try ids(FieldData.trackPoint, where: "track_fid", id, writer) {
      if let photos {
        for link in try writer.links(by: photos.candidates, of: point) {
          shown.insert(link.related)
        }
      }
      if case .integer(let number) = point {
        let jobs = try PhotoLayers.jobs.delete(of: .integer(number), writer)
        deleted.add(jobs, of: PhotoLayers.job)
      }
      try delete(point, in: FieldData.trackPoint, writer)
    }
    try writer.delete(.integer(id), in: FieldData.track)
    for photo in shown { try deleteUnused(photo, writer) }
    for run in runs where try isWithoutTrack(run, writer) {
      try delete(.integer(run), in: FieldData.run, writer)
    }
  }

  mutating func delete(photo id: FeatureID, _ writer: GeoPackageWriter) throws(FieldpackError) {
    guard let photos else {
      throw FieldpackError(
        .notFound, "there is no photo \(id)",
        location: .init(layer: PhotoLayers.photo, feature: id))
    }
    for point in try writer.bases(relatedTo: id, by: photos.candidates) {
      let isChosen = try writer.links(by: photos.candidates, of: point).contains { link in
        link.related == id && link.attributes["chosen"] == .integer(1)
      }
      guard isChosen else { continue }
      try writer.update(
        point, in: FieldData.trackPoint, set: ["photo_state": .text(PhotoState.none.rawValue)])
    }
    try deleteWithFiles(id, photos, writer)
  }

  // MARK: What belongs to it

  private mutating func deleteUnused(
    _ photo: FeatureID, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    guard let photos, try writer.bases(relatedTo: photo, by: photos.candidates).isEmpty else {
      return
    }
    try deleteWithFiles(photo, photos, writer)
  }

  private mutating func deleteWithFiles(
    _ photo: FeatureID, _ photos: PhotoLayers, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    let pictures = try writer.related(to: photo, by: photos.pictures)
    try delete(photo, in: PhotoLayers.photo, writer)
    try MediaLayer.deleteUnused(pictures, writer, &deleted)
  }

  /// The recordings that added to the track.
  private func runs(
    ofTrack id: Int64, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> Set<Int64> {
    guard layers.contains(FieldData.state) else { return [] }
    let query = Query(FieldData.state, where: Column<Int64>("track_fid") == id).select(["run_id"])
    return Set(try writer.features(query).compactMap { $0[Column<Int64>("run_id")] })
  }

  private func isWithoutTrack(
    _ run: Int64, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> Bool {
    let states = try writer.features(
      Query(FieldData.state, where: Column<Int64>("run_id") == run).select(["track_fid"]))
    for track in states.compactMap({ $0[Column<Int64>("track_fid")] })
    where try writer.feature(.integer(track), in: FieldData.track) != nil {
      return false
    }
    return true
  }

  // MARK: Rows

  private func ids(
    _ layer: LayerID, where column: String, _ value: Int64, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> [FeatureID] {
    guard layers.contains(layer) else { return [] }
    let query = Query(layer, where: Column<Int64>(column) == value).withoutGeometry().select([])
    return try writer.features(query).compactMap(\.id)
  }

  private mutating func delete(
    _ id: FeatureID, in layer: LayerID, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    try writer.delete(id, in: layer)
    deleted.add(of: layer)
  }
}
