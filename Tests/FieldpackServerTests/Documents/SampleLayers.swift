import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

/// Layers of several kinds, and the documents of a server that has them.
enum SampleLayers {
  static let base = LinkBase("https://example.org/field")

  static let columns: [ColumnDefinition] = {
    var photo = ColumnDefinition("photo", .blob())
    photo.mediaType = "image/jpeg"
    return [
      ColumnDefinition("name", .text(maximumLength: 40), isNullable: false, title: "Name"),
      ColumnDefinition(
        "depth", .double, description: "In metres.",
        constraint: ColumnConstraint(
          "depths", .range(from: .init(.real(0)), to: .init(.real(500), isInclusive: false)))),
      ColumnDefinition(
        "state", .text(), constraint: .oneOf("new", "known", named: "states")),
      ColumnDefinition("visits", .smallInt, constraint: .range(0...9, named: "few")),
      ColumnDefinition("grade", .integer, constraint: .oneOf("1", "2", named: "grades")),
      ColumnDefinition("dry", .boolean, isNullable: false, defaultSQL: "0"),
      ColumnDefinition("drilled", .date), ColumnDefinition("seen", .dateTime),
      ColumnDefinition("tags", .json), photo,
      ColumnDefinition("label", .text(), isNullable: false, isGenerated: true),
      ColumnDefinition("price", .other("DECIMAL(10,2)")),
    ]
  }()

  /// Points in UTM.
  static let wells = ServedLayer(
    Layer(
      schema: Schema(
        layer: "wells", geometry: GeometryColumn(type: .point, srs: SRS("EPSG", 25832)),
        columns: columns),
      kind: .features, title: "Wells", description: "Wells of the district.", featureCount: 3,
      envelope: Envelope(minX: 450_000, minY: 5_550_000, maxX: 462_000, maxY: 5_563_000)),
    interval: ("2024-01-31T08:00:00Z", nil))

  /// Polygons on both sides of the antimeridian.
  static let islands = ServedLayer(
    Layer(
      schema: Schema(
        layer: "islands", geometry: GeometryColumn(type: .multiPolygon, srs: SRS("EPSG", 3832))),
      kind: .features,
      envelope: Envelope(minX: 2e6, minY: -2e6, maxX: 4e6, maxY: -1e6)))

  static let places = ServedLayer(
    Layer(
      schema: Schema(layer: "places", geometry: GeometryColumn(srs: .wgs84)), kind: .features,
      envelope: Envelope(minX: 7, minY: 50, maxX: 8.5, maxY: 51)))

  static let notes = ServedLayer(
    Layer(
      schema: Schema(layer: "notes", columns: [ColumnDefinition("text", .text())]),
      kind: .attributes))

  static let plan = ServedLayer(
    Layer(
      schema: Schema(
        layer: "plan", geometry: GeometryColumn(type: .lineString, srs: .undefinedCartesian)),
      kind: .features, envelope: Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10)))

  static let hostile = [
    "a\"b; DROP TABLE x", "<script>alert(1)</script>", "a/b", "a b", ".", "..", "..;x", "~..", "~",
    "çà è", "日本語", "a%2Fb", "a?b=c&d#e", "'\\", "\u{202E}gnp.exe", "javascript:alert(1)",
  ]

  static let all = [wells, islands, places, notes, plan]

  static func documents(
    _ layers: [ServedLayer] = all, change: (inout ServerDocuments.Options) -> Void = { _ in }
  ) -> ServerDocuments {
    var options = ServerDocuments.Options(title: "Field")
    change(&options)
    return ServerDocuments(layers, options)
  }
}

extension ServerDocuments {
  /// The document read as JSON.
  func json(
    _ name: Name, as format: Format = .json, base: LinkBase = SampleLayers.base
  ) throws -> JSONValue {
    let found = document(name, as: format, base: base)
    return try #require(found).bytes.withUnsafeBufferPointer { try JSONValueReader.read($0) }
  }

  func page(_ name: Name, base: LinkBase = SampleLayers.base) throws -> String {
    let found = document(name, as: .html, base: base)
    let document = try #require(found)
    #expect(document.contentType == "text/html; charset=utf-8")
    return String(decoding: document.bytes, as: UTF8.self)
  }

  static func names(of layer: LayerID) -> [Name] {
    [
      .collection(layer), .queryables(layer), .schema(layer), .sortables(layer), .tilesets(layer),
      .tileset(layer),
    ]
  }

  var names: [Name] {
    [.landing, .conformance, .api, .collections, .functions, .tileMatrixSets, .tileMatrixSet]
      + layers.flatMap { Self.names(of: $0.id) }
  }
}

extension JSONValue {
  /// The items of an array.
  var items: [JSONValue] {
    if case .array(let items) = self { items } else { [] }
  }

  var members: [Member] {
    if case .object(let members) = self { members } else { [] }
  }

  /// All values with that name within.
  func all(_ name: String) -> [JSONValue] {
    items.flatMap { $0.all(name) }
      + members.flatMap { ($0.name == name ? [$0.value] : []) + $0.value.all(name) }
  }
}
