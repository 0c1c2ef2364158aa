import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry

/// The layers and relations that pictures of track points are kept in.
///
/// `track_point` → `track_point_photo` → `photo` → `photo_media` → `media`, and `photo_job` with what
/// has to be tried again. All of them are those of GeoPackage and Related Tables, so that other
/// programs find the pictures.
struct PhotoLayers {
  static let point: LayerID = "track_point"
  static let photo: LayerID = "photo"
  static let media = MediaLayer.id
  static let job: LayerID = "photo_job"
  static let pointPhoto = "track_point_photo"
  static let photoMedia = "photo_media"

  /// Track point → photo, with `rank`, `distance_m` and `chosen`.
  let candidates: Relation
  /// Photo → media.
  let pictures: Relation

  /// Those of a file; `nil` where no picture was ever asked for.
  init?(_ relations: [Relation]) {
    guard let candidates = relations.first(where: { $0.mapping == Self.pointPhoto }),
      let pictures = relations.first(where: { $0.mapping == Self.photoMedia })
    else { return nil }
    self.candidates = candidates
    self.pictures = pictures
  }

  private init(candidates: Relation, pictures: Relation) {
    self.candidates = candidates
    self.pictures = pictures
  }

  /// Those of a file, made where they are missing.
  ///
  /// - Throws: `.notFound` where there are no track points.
  static func prepare(_ writer: GeoPackageWriter) throws(FieldpackError) -> PhotoLayers {
    guard try writer.schema(of: point) != nil else {
      throw FieldpackError(
        .notFound, "there is no layer '\(point)' to find photos for", advice: .recordTrack,
        location: .init(layer: point))
    }
    try layers.prepare(in: writer)
    try MediaLayer.prepare(writer)
    if let found = PhotoLayers(try writer.relations()) { return found }
    return PhotoLayers(
      candidates: try writer.createRelation(
        from: point, to: photo, as: .features, mapping: pointPhoto,
        columns: [
          ColumnDefinition("rank", .integer, isNullable: false, defaultSQL: "0"),
          ColumnDefinition("distance_m", .double),
          ColumnDefinition("chosen", .integer, isNullable: false, defaultSQL: "1"),
        ]),
      pictures: try writer.createRelation(
        from: photo, to: media, as: .media, mapping: photoMedia))
  }

  /// Those of a file that ``prepare(_:)`` was called for, made again where somebody removed them.
  static func found(_ writer: GeoPackageWriter) throws(FieldpackError) -> PhotoLayers {
    if let found = PhotoLayers(try writer.relations()) { return found }
    return try prepare(writer)
  }

  /// Makes the indexes that are missing: by what a photo is, and for the points that wait.
  static func index(_ writer: GeoPackageWriter) throws(FieldpackError) {
    try writer.execute(
      "CREATE INDEX IF NOT EXISTS track_point_photo_state ON track_point (photo_state, track_fid)")
    // Another program may have written a photo twice.
    let twice = try writer.rows(
      "SELECT 1 FROM photo GROUP BY provider, photo_id HAVING count(*) > 1 LIMIT 1")
    try writer.execute(
      "CREATE \(twice.isEmpty ? "UNIQUE " : "")INDEX IF NOT EXISTS photo_provider_id "
        + "ON photo (provider, photo_id)")
  }

  /// What was tried for the points without a picture.
  static let jobs = JobTable(
    job, subject: .integer,
    extra: [ColumnDefinition("radius_m", .double, description: "as far as was searched")])

  static let layers = FieldLayers(
    version: 2,
    [
      FieldLayer(
        Schema(
          layer: photo, geometry: GeometryColumn(type: .point),
          columns: [
            ColumnDefinition("provider", .text(), isNullable: false),
            ColumnDefinition("photo_id", .text(), isNullable: false),
            ColumnDefinition("owner", .text()),
            ColumnDefinition("title", .text(), isNullable: false),
            ColumnDefinition("license", .text()),
            ColumnDefinition("source_url", .text(), isNullable: false),
            ColumnDefinition("fetched_at", .dateTime),
          ] + flickrColumns),
        firstColumns: ["provider", "photo_id", "title", "source_url"],
        migrations: [
          Migration(
            "Flickr's columns for its photos only", to: 2,
            [.add(flickrColumns), .redefine(flickrColumns)]
              + flickrColumns.map { column in
                .fill(
                  column.name,
                  with: "CASE WHEN provider = 'flickr' THEN \(column.name) END")
              })
        ]),
      jobs.definition(
        firstColumns: ["point_fid", "provider", "attempt"],
        migrations: [
          Migration(
            "the columns of all jobs", to: 2,
            [
              .rename("point_fid", to: "subject"), .rename("provider", to: "target"),
              .add(JobTable.progress),
              .fill("state", with: "CASE WHEN next_at IS NULL THEN 'failed' ELSE 'queued' END"),
            ])
        ]),
    ])

  /// The parts of Flickr's addresses.
  private static let flickrColumns = [
    ColumnDefinition("secret", .text()),
    ColumnDefinition("server", .text()),
    ColumnDefinition("farm", .integer),
    ColumnDefinition("size_code", .text()),
  ]
}
