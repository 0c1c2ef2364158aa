public import FieldpackCore
public import FieldpackField
import FieldpackGeoPackage
public import FieldpackGeometry

extension PersonCatalogue {
  // MARK: Finding

  /// The items of a person in their order, or those of all persons.
  public func items(of person: KeyTuple? = nil) async throws(FieldpackError) -> [Item] {
    let id = store.id
    return try await store.read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasPersons() else { return [] }
      guard let person else { return try snapshot.items(Item.query, of: id) }
      guard case .integer(let number) = person.feature else { return [] }
      return try snapshot.items(Item.query.where(Column<Int64>("person_id") == number), of: id)
    }
  }

  /// The item of an id, or of a key tuple's text.
  ///
  /// - Throws: `.notFound`.
  public func item(_ name: String) async throws(FieldpackError) -> Item {
    let id = store.id
    let found: Item? = try await store.read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasPersons(),
        case .integer(let number)? = Self.feature(name, SensorLayers.item, id)
      else { return nil }
      return try snapshot.items(Item.query.where(Column<Int64>("fid") == number), of: id).first
    }
    if let found { return found }
    throw missing("item", name, SensorLayers.item)
  }

  /// The items of these keys that there are, read at once.
  package func items(_ keys: [KeyTuple]) async throws(FieldpackError) -> [KeyTuple: Item] {
    let id = store.id
    let numbers = keys.compactMap { key in
      if case .integer(let number) = key.feature { number } else { nil }
    }
    let found = try await store.read { (snapshot) throws(FieldpackError) -> [Item] in
      guard !numbers.isEmpty, try snapshot.hasPersons() else { return [] }
      return try snapshot.items(Item.query.where(Column<Int64>("fid").isIn(numbers)), of: id)
    }
    return Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0) })
  }

  /// The key of an item by its id, or by a key tuple's text. The item need not be there.
  package func key(ofItem name: String) throws(FieldpackError) -> KeyTuple {
    guard let feature = Self.feature(name, SensorLayers.item, store.id) else {
      throw missing("item", name, SensorLayers.item)
    }
    return KeyTuple(store: store.id, layer: SensorLayers.item, feature: feature)
  }

  /// The sensors that items of a modality had last, the one that was edited last first, each only once.
  public func recentDevices(
    for modality: Modality, limit: Int = 5
  ) async throws(FieldpackError) -> [SensorDevice] {
    try await store.read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasPersons() else { return [] }
      let rows = try snapshot.features(
        Query(SensorLayers.item, where: Column<String>("modality") == modality.title)
          .withoutGeometry().select(["device_id"]))
      let ids = Set(rows.compactMap { $0[Column<Int64>("device_id")] })
      let devices = try snapshot.devices(ids).values.sorted { a, b in
        (a.device.lastEditedAt?.milliseconds ?? 0, a.row)
          > (b.device.lastEditedAt?.milliseconds ?? 0, b.row)
      }
      var seen: Set<SensorAddress> = []
      return devices.map(\.device).filter { seen.insert($0.address).inserted }.prefix(limit).map {
        $0
      }
    }
  }

  // MARK: Changes

  /// Adds an item to a person.
  ///
  /// - Parameter index: its place among the others; `nil` for the last.
  @discardableResult
  public func add(
    _ draft: ItemDraft, to person: KeyTuple, at index: Int? = nil
  ) async throws(FieldpackError) -> Item {
    let id = store.id
    return try await change { (rows) throws(FieldpackError) in
      try rows.item(try rows.create(draft, of: person.feature, at: index), of: id)
    }
  }

  /// Sets what an item captures and by what sensor. What it has captured stays.
  public func set(_ item: KeyTuple, to draft: ItemDraft) async throws(FieldpackError) {
    try await change { (rows) throws(FieldpackError) in try rows.set(item.feature, to: draft) }
  }

  /// Moves an item among those of its person.
  public func move(_ item: KeyTuple, to index: Int) async throws(FieldpackError) {
    try await change { (rows) throws(FieldpackError) in try rows.move(item.feature, to: index) }
  }

  /// Deletes what items have captured. Their marks, notes and sensors stay.
  ///
  /// - Parameter scrubbing: as that of ``delete(_:scrubbing:)``.
  @discardableResult
  public func clear(
    _ items: [KeyTuple], scrubbing: Bool = false
  ) async throws(FieldpackError) -> DeletedFeatures {
    try await delete(scrubbing: scrubbing) { (rows, deleted) throws(FieldpackError) in
      for item in items { try rows.clear(item.feature, &deleted) }
    }
  }

  /// Marks parts of an item, such as fingers that are missing, or takes notes of it.
  ///
  /// - Parameters:
  ///   - annotations: up to four, as ``CaptureType/annotatedParts`` names them; `nil` leaves them.
  ///   - notes: `nil` leaves them, an empty text removes them.
  /// - Returns: the item as it is then.
  @discardableResult
  public func annotate(
    _ item: KeyTuple, _ annotations: [Bool]? = nil, notes: String? = nil
  ) async throws(FieldpackError) -> Item {
    var values = Attributes()
    if let annotations {
      values["annotations_json"] = Item.json(annotations).map(Value.text) ?? .null
    }
    if let notes { values["notes"] = notes.isEmpty ? .null : .text(notes) }
    let (attributes, id) = (values, store.id)
    return try await change { (rows) throws(FieldpackError) in
      _ = try rows.item(item.feature)
      try rows.writer.update(item.feature, in: SensorLayers.item, set: attributes)
      return try rows.item(item.feature, of: id)
    }
  }

  /// Sets where an item was captured; `nil` for a place that is not known.
  public func setPosition(
    _ position: Position?, of item: KeyTuple
  ) async throws(FieldpackError) {
    try await change { (rows) throws(FieldpackError) in
      _ = try rows.item(item.feature)
      try rows.writer.update(
        item.feature, in: SensorLayers.item,
        geometry: .set(position.map { .point(x: $0.x, y: $0.y) }))
    }
  }

  /// Deletes items with their sensors and the files that nothing else has, and renumbers the others of
  /// their persons: all of them, or none.
  ///
  /// - Parameter scrubbing: as that of ``delete(_:scrubbing:)``.
  @discardableResult
  public func delete(
    items: [KeyTuple], scrubbing: Bool = false
  ) async throws(FieldpackError) -> DeletedFeatures {
    try await delete(scrubbing: scrubbing) { (rows, deleted) throws(FieldpackError) in
      try rows.delete(items: items.map(\.feature), &deleted)
    }
  }

  // MARK: Files

  /// What is known of an item's files: what was captured, then the thumbnail.
  public func files(of item: KeyTuple) async throws(FieldpackError) -> [ItemFile] {
    try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.files(ofItem: item.feature)
    }
  }

  /// The bytes of a file; `nil` where it is gone.
  public func content(of file: ItemFile) async throws(FieldpackError) -> [UInt8]? {
    try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.withMedia(file.id, in: SensorLayers.media) { (bytes, _) throws(FieldpackError) in
        bytes.withUnsafeBytes { Array($0) }
      }
    }
  }
}

/// A file of an item, without its bytes.
public struct ItemFile: Hashable, Sendable {
  public enum Role: String, Hashable, Sendable {
    case data = "sensor_data"
    case thumbnail
  }

  /// Its id in the layer `media`.
  public var id: FeatureID
  public var role: Role
  public var contentType: String
  public var byteCount: Int
  public var sha256: String

  init?(_ row: Feature) {
    guard let id = row.id, let role = row[Column<String>("role")].flatMap(Role.init) else {
      return nil
    }
    self.id = id
    self.role = role
    contentType = row[Column<String>("content_type")] ?? MediaType.unknown
    byteCount = row[Column<Int>("byte_count")] ?? 0
    sha256 = row[Column<String>("sha256")] ?? ""
  }
}

extension GeoPackageSnapshot {
  /// The items of a query with their devices.
  func items(_ query: Query, of store: StoreID) throws(FieldpackError) -> [Item] {
    let rows = try features(query)
    let ids = Set(rows.compactMap { $0[Column<Int64>("device_id")] })
    let devices = try devices(ids)
    return rows.compactMap { row in
      let device = row[Column<Int64>("device_id")].flatMap { devices[$0]?.device }
      return Item(row, device: device, of: store)
    }
  }

  /// Devices by their rows.
  func devices(
    _ ids: Set<Int64>
  ) throws(FieldpackError) -> [Int64: (row: Int64, device: SensorDevice)] {
    guard !ids.isEmpty else { return [:] }
    var devices: [Int64: (Int64, SensorDevice)] = [:]
    let rows = try features(
      Query(SensorLayers.device, where: Column<Int64>("id").isIn(ids.sorted())))
    for row in rows {
      guard case .integer(let id)? = row.id, let device = SensorDevice(row) else { continue }
      devices[id] = (id, device)
    }
    return devices
  }

  func files(ofItem item: FeatureID) throws(FieldpackError) -> [ItemFile] {
    guard let relations = SensorLayers.Relations(try relations()) else { return [] }
    let ids = try related(to: item, by: relations.media).compactMap { id in
      if case .integer(let number) = id { number } else { nil }
    }
    let files = try features(
      Query(SensorLayers.media, where: Column<Int64>("id").isIn(ids)).select([
        "role", "content_type", "byte_count", "sha256",
      ])
    ).compactMap(ItemFile.init)
    return files.filter { $0.role == .data } + files.filter { $0.role == .thumbnail }
  }
}
