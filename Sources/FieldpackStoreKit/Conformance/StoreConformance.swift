public import FieldpackCore
import FieldpackGeometry

/// A behaviour that every store has, whatever it is made of. A store's tests run the whole table:
///
///     @Test(arguments: StoreConformance.reading)
///     func `behaves as a store`(behaviour: StoreConformance) async throws {
///       try await behaviour.check(try await filledStore())
///     }
///
/// The store holds ``layers`` with ``features(of:)`` and nothing else; see ``fill(_:)``.
public struct StoreConformance: Sendable, CustomStringConvertible {
  public let description: String
  private let body: @Sendable (any Store) async throws -> Void

  init(_ description: String, _ body: @escaping @Sendable (any Store) async throws -> Void) {
    self.description = description
    self.body = body
  }

  init(
    writing description: String,
    _ body: @escaping @Sendable (any WritableStore) async throws -> Void
  ) {
    self.init(description) { store in
      guard let store = store as? any WritableStore else {
        throw ConformanceFailure(description: "the store takes no changes")
      }
      try await body(store)
    }
  }

  /// - Throws: ``ConformanceFailure`` where the store behaves otherwise.
  public func check(_ store: any Store) async throws {
    try await body(store)
    await store.close()
  }
}

/// How a store failed to behave.
public struct ConformanceFailure: Error, CustomStringConvertible {
  public let description: String
}

// MARK: What the store holds

extension StoreConformance {
  public static let wells = Schema(
    layer: "wells", geometry: GeometryColumn(type: .point),
    columns: [
      ColumnDefinition("name", .text()), ColumnDefinition("depth", .double),
      ColumnDefinition("visits", .integer), ColumnDefinition("seen", .dateTime),
    ])

  public static let springs = Schema(
    layer: "springs", geometry: GeometryColumn(type: .point),
    columns: [
      ColumnDefinition("name", .text()), ColumnDefinition("visits", .integer),
      ColumnDefinition("flow", .double),
    ])

  public static let remarks = Schema(
    layer: "remarks",
    columns: [ColumnDefinition("visits", .integer), ColumnDefinition("text", .text())])

  /// The layers in order.
  public static let layers = [wells, springs, remarks]

  public static func features(of layer: LayerID) -> [Feature] {
    switch layer {
    case "wells":
      [
        well(1, 13, 52, ["name": "Mitte", "depth": 12.5, "visits": 3]),
        well(2, 14, 53, ["name": "apfel", "depth": .null, "visits": 1, "seen": moment]),
        well(4, 15, 54, ["name": "Zoo", "depth": -1.0, "visits": .null]),
        well(7, 16, 55, ["name": "é", "depth": 12.5, "visits": 2]),
        Feature(id: 9, attributes: row(["name": .null, "depth": 0.0, "visits": 1])),
      ]
    case "springs":
      [
        Feature(
          id: 1, geometry: .point(x: -60, y: -30),
          attributes: ["name": "Zoo", "visits": 1, "flow": 2.0]),
        Feature(
          id: 2, geometry: .point(x: -61, y: -31),
          attributes: ["name": "Anger", "visits": .null, "flow": 0.5]),
      ]
    default: [Feature(id: 5, attributes: ["visits": 1, "text": "dry"])]
    }
  }

  private static let moment = Value.dateTime(Instant(milliseconds: 1_583_064_000_123))

  private static func well(
    _ id: FeatureID, _ x: Double, _ y: Double, _ attributes: Attributes
  ) -> Feature {
    Feature(id: id, geometry: .point(x: x, y: y), attributes: row(attributes))
  }

  private static func row(_ attributes: Attributes) -> Attributes {
    var row = attributes
    if row["seen"] == nil { row["seen"] = .null }
    return row
  }

  /// Writes the layers and features.
  public static func fill(_ store: any WritableStore) async throws {
    try await store.write { (writer) throws(FieldpackError) in
      for schema in layers {
        try writer.createLayer(schema)
        for feature in features(of: schema.layer) { try writer.create(feature, in: schema.layer) }
      }
    }
  }

  /// The features as a store gives them back.
  static func stored(_ layer: LayerID, in store: any Store) -> [Feature] {
    features(of: layer).map { feature in
      guard let id = feature.id else { return feature }
      var stored = feature
      stored.key = KeyTuple(store: store.id, layer: layer, feature: id)
      return stored
    }
  }
}

// MARK: Saying what is wrong

extension StoreConformance {
  static func same<T: Equatable>(_ found: T, _ expected: T, _ what: String = "") throws {
    guard found != expected else { return }
    throw ConformanceFailure(description: "\(what)\nfound    \(found)\nexpected \(expected)")
  }

  /// The code of the error that `body` throws.
  static func errorCode(
    _ body: () async throws -> Void
  ) async throws -> FieldpackError.Code {
    do { try await body() } catch let error as FieldpackError { return error.code }
    throw ConformanceFailure(description: "no error was thrown")
  }
}

extension Store {
  /// `layer/id` of each feature of a query, in order.
  func keys(_ query: Query) async throws -> [String] {
    var keys: [String] = []
    for try await batch in try await self.query(query) {
      keys += batch.ids.map { "\(batch.schema.layer)/\($0)" }
    }
    return keys
  }

  func all(_ query: Query) async throws -> [Feature] {
    var features: [Feature] = []
    for try await feature in try await self.query(query).features { features.append(feature) }
    return features
  }
}
