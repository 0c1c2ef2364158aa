public import FieldpackCore
public import FieldpackGeometry

/// What is captured of a person by one sensor: a cell of the person's row.
public struct Item: Hashable, Sendable {
  public var key: KeyTuple
  /// The person's key tuple.
  public var person: KeyTuple
  /// The place in the person's row, from 0 on.
  public var index: Int
  /// Such as `Finger`. A text that is no ``Modality`` is kept.
  public var modality: String?
  /// The parameter name, such as `LeftSlap`. A text that is no ``CaptureType`` is kept.
  public var submodality: String?
  public var device: SensorDevice?
  /// The media type of what was captured; `nil` where nothing is.
  public var contentType: String?
  public var captureId: String?
  /// What the sensor said of the capture, as a JSON object.
  public var metadataJSON: String?
  /// Whether each of the parts that ``CaptureType/annotatedParts`` names is marked; always four.
  public var annotations = Item.noAnnotations
  public var notes: String?
  /// Where it was captured.
  public var position: Position?
  public var createdAt: Instant

  public static let noAnnotations = [false, false, false, false]

  public var hasData: Bool { contentType != nil }
  public var captureType: CaptureType? { submodality.flatMap(CaptureType.init(named:)) }

  /// What people read, such as `Left Slap`.
  public var title: String {
    captureType?.title ?? submodality ?? modality ?? CaptureType.notSet.title
  }

  init(key: KeyTuple, person: KeyTuple, index: Int, createdAt: Instant) {
    self.key = key
    self.person = person
    self.index = index
    self.createdAt = createdAt
  }
}

/// An item that is not stored, or what an item is set to.
public struct ItemDraft: Hashable, Sendable {
  public var modality: Modality
  public var captureType: CaptureType
  /// `nil` where no sensor is behind the item.
  public var device: SensorDevice?
  /// Where it is captured.
  public var position: Position?

  public init(
    modality: Modality, captureType: CaptureType, device: SensorDevice? = nil,
    position: Position? = nil
  ) {
    self.modality = modality
    self.captureType = captureType
    self.device = device
    self.position = position
  }
}

extension CaptureType {
  /// The type of a parameter's name or of a title, in any case.
  public init?(named text: String) {
    let lower = text.lowercased()
    guard
      let found = Self(parameterName: text)
        ?? Self.allCases.first(where: { $0.title.lowercased() == lower })
    else { return nil }
    self = found
  }
}

// MARK: Rows

extension Item {
  /// A row of the layer `bio_item`.
  init?(_ row: Feature, device: SensorDevice?, of store: StoreID) {
    guard let id = row.id, let person = row[Column<Int64>("person_id")] else { return nil }
    self.init(
      key: KeyTuple(store: store, layer: SensorLayers.item, feature: id),
      person: KeyTuple(store: store, layer: SensorLayers.person, feature: .integer(person)),
      index: row[Column<Int>("item_index")] ?? 0,
      createdAt: row[Column<Instant>("created_at")] ?? Instant(milliseconds: 0))
    modality = row[Column<String>("modality")]
    submodality = row[Column<String>("submodality")]
    self.device = device
    contentType = row[Column<String>("data_content_type")]
    captureId = row[Column<String>("capture_id")]
    metadataJSON = row[Column<String>("capture_metadata_json")]
    annotations = Self.annotations(row[Column<String>("annotations_json")])
    notes = row[Column<String>("notes")]
    if case .point(let position?, _)? = row.geometry { self.position = position }
  }

  private static func annotations(_ text: String?) -> [Bool] {
    guard let text, case .array(let items)? = try? JSONValueReader.read(text) else {
      return noAnnotations
    }
    let flags = items.prefix(4).map { $0 == .boolean(true) }
    return flags + noAnnotations.dropFirst(flags.count)
  }

  /// Four flags as JSON; `nil` where none is set.
  static func json(_ annotations: [Bool]) -> String? {
    guard annotations.contains(true) else { return nil }
    let flags = annotations.prefix(4) + noAnnotations.dropFirst(annotations.count)
    return JSONValue.array(flags.map { .boolean($0) }).text
  }
}
