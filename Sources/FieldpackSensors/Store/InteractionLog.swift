public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
import FieldpackGeometry

/// The log of what a user does: each command or click with what it was about, and when.
///
/// It is off unless a program turns it on, and a file has the layer `bio_interaction` only then. The log
/// of operations is another one, and is always kept.
public struct InteractionLog: Sendable {
  public static let layer: LayerID = "bio_interaction"

  /// Whether anything is logged.
  public let isOn: Bool
  private let store: GeoPackageStore
  private let clock: FieldClock

  public init(_ store: GeoPackageStore, isOn: Bool = false, clock: FieldClock = .system) {
    self.store = store
    self.isOn = isOn
    self.clock = clock
  }

  /// Logs a command or click.
  ///
  /// - Parameters:
  ///   - what: its name. A text of the program, so that nothing of a person gets into it.
  ///   - key: the person or item that it was about.
  public func note(
    _ what: StaticString, on key: KeyTuple? = nil
  ) async throws(FieldpackError) {
    guard isOn else { return }
    let row = Feature(attributes: [
      "what": .text("\(what)"), "key": key.map { .text($0.description) } ?? .null,
      "at": .dateTime(clock.now),
    ])
    try await store.edit { (writer) throws(FieldpackError) in
      try Self.layers.prepare(in: writer)
      try writer.create(row, in: Self.layer)
    }
  }

  private static let layers = FieldLayers(
    version: 1,
    [
      FieldLayer(
        Schema(
          layer: layer, idColumn: "id",
          columns: [
            ColumnDefinition("what", .text(), isNullable: false), ColumnDefinition("key", .text()),
            ColumnDefinition("at", .dateTime, isNullable: false),
          ]))
    ])
}
