import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// What servers of other makers are asked for, and what they hold.
enum PeerLayers {
  private static let places = Schema(
    layer: "places", geometry: GeometryColumn(type: .point),
    columns: [
      ColumnDefinition("name", .text()), ColumnDefinition("visits", .integer),
      ColumnDefinition("depth", .double),
    ])
  private static let areas = Schema(
    layer: "areas", geometry: GeometryColumn(type: .polygon, srs: SRS("EPSG", 25833)),
    columns: [ColumnDefinition("name", .text())])

  /// 130 points on a grid of eighths, so that the six digits of MapServer are all of them.
  static func survey() -> [(Schema, [Feature])] {
    let names = ["Porto", "porto", "a%b", "Größe", "x y", "Zoo"]
    let points = (1...130).map { number in
      Feature(
        id: .integer(Int64(number)),
        geometry: .point(x: 10 + Double(number % 36) / 8, y: 50 + Double(number / 36) / 8),
        attributes: [
          "name": .text(names[number % names.count]),
          "visits": number % 7 == 0 ? .null : .integer(Int64(number % 11)),
          "depth": .real(Double(number % 13) / 10),
        ])
    }
    let squares = (1...12).map { number in
      let (x, y) = (390_000 + Double(number) * 1000, 5_820_000 + Double(number % 3) * 1000)
      let ring = [(x, y), (x + 500, y), (x + 500, y + 500), (x, y + 500), (x, y)]
      return Feature(
        id: .integer(Int64(number)),
        geometry: .polygon(
          [CoordinateSequence(ring.map { Position(x: $0.0, y: $0.1) }, dimensions: .xy)], .xy),
        attributes: ["name": .text("area \(number)")])
    }
    return [(places, points), (areas, squares)]
  }

  static let conditions: [Filter] = [
    .all, Column<Int64>("visits") > 3, Column<Int64>("visits") != 2,
    !(Column<Int64>("visits") == 2), Column<Int64>("visits").isNull,
    !Column<Int64>("visits").isNull, Column<Double>("depth") == 0.3,
    Column<Double>("depth") < 0.3, Column<Double>("depth").between(0.1, 0.3),
    Column<String>("name") == "Porto", Column<String>("name").like("P%o"),
    Column<String>("name").like("a\\%b"), Column<String>("name").like("Gr__e"),
    Column<String>("name").isIn(["x y", "Zoo"]), Column<Int64>("visits").isIn([1, 2, 3]),
    .intersects(Envelope(minX: 11, minY: 51, maxX: 12, maxY: 52)),
    !.intersects(Envelope(minX: 11, minY: 51, maxX: 12, maxY: 52)),
    .intersects(
      Envelope(minX: 300_000, minY: 5_600_000, maxX: 400_000, maxY: 5_800_000),
      srs: SRS("EPSG", 25833)),
    .intersects(
      .polygon(
        [
          CoordinateSequence(
            [(11, 51), (13, 51), (12, 53), (11, 51)].map { Position(x: $0.0, y: $0.1) },
            dimensions: .xy)
        ], .xy)),
    .isWithin(20_000, of: .point(x: 11.5, y: 51.5)),
    .intersects(Envelope(minX: 11, minY: 51, maxX: 12, maxY: 52))
      && (Column<Int64>("visits") >= 5 || Column<String>("name") == "Zoo"),
  ]

  /// Writes a GeoPackage for a server.
  ///
  /// - Parameter layers: schemas with the features, which have integer ids.
  static func write(_ layers: [(Schema, [Feature])], to path: String) throws {
    let writer = try GeoPackageBulkWriter(creating: path, store: "survey")
    for (schema, features) in layers {
      try writer.create(schema, ids: .given)
      try writer.loader.begin(schema)
      for feature in features {
        try writer.loader.feature(ValueRow(feature, id: feature.id!, schema: schema))
      }
    }
    _ = try writer.commit()
  }

  static func ids(_ store: any Store, _ query: Query) async throws -> [FeatureID] {
    var ids: [FeatureID] = []
    for try await batch in try await store.query(query) { ids += batch.ids }
    return ids
  }

  /// The features without the names of their layers, which have a prefix in version 2.0.0.
  static func features(_ store: any Store, _ query: Query) async throws -> [Feature] {
    var features: [Feature] = []
    for try await feature in try await store.query(query).features {
      features.append(
        Feature(id: feature.id, geometry: feature.geometry, attributes: feature.attributes))
    }
    return features
  }
}
