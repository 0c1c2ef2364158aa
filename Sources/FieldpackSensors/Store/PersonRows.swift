import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// Persons and items as rows, in a writer's transaction.
struct PersonRows {
  let writer: GeoPackageWriter
  let relations: SensorLayers.Relations
  /// When the transaction changes what it changes.
  let now: Instant

  /// Makes the layers where they are missing.
  init(_ writer: GeoPackageWriter, at now: Instant) throws(FieldpackError) {
    self.writer = writer
    self.now = now
    relations = try SensorLayers.prepare(writer)
  }

  // MARK: Persons

  func create(_ details: PersonDetails) throws(FieldpackError) -> FeatureID {
    var attributes = details.attributes
    attributes["created_at"] = .dateTime(now)
    return try writer.create(Feature(attributes: attributes), in: SensorLayers.person)
  }

  func details(of person: FeatureID) throws(FieldpackError) -> PersonDetails {
    guard let row = try writer.feature(person, in: SensorLayers.person) else {
      throw missing(person, SensorLayers.person)
    }
    return PersonDetails(row)
  }

  func edit(_ person: FeatureID, _ details: PersonDetails) throws(FieldpackError) {
    var attributes = details.attributes
    attributes["modified_at"] = .dateTime(now)
    try writer.update(person, in: SensorLayers.person, set: attributes)
  }

  /// A new person without details, with an item for each of the other's: its sensor and what it captures,
  /// but nothing that was captured.
  func duplicate(_ person: FeatureID) throws(FieldpackError) -> FeatureID {
    guard try writer.feature(person, in: SensorLayers.person) != nil else {
      throw missing(person, SensorLayers.person)
    }
    let copy = try create(PersonDetails())
    for (index, row) in try items(of: person).enumerated() {
      let id = try writer.create(
        Feature(attributes: [
          "person_id": try number(copy), "item_index": .integer(Int64(index)),
          "device_id": try copyDevice(row), "modality": row.attributes["modality"] ?? .null,
          "submodality": row.attributes["submodality"] ?? .null, "created_at": .dateTime(now),
        ]), in: SensorLayers.item)
      try writer.link(copy, to: id, by: relations.items)
    }
    return copy
  }

  private func copyDevice(_ item: Feature) throws(FieldpackError) -> Value {
    guard let id = item[Column<Int64>("device_id")],
      var row = try writer.feature(.integer(id), in: SensorLayers.device)
    else { return .null }
    row.key = nil
    row.id = nil
    return try number(try writer.create(row, in: SensorLayers.device))
  }

  func delete(
    person: FeatureID, _ deleted: inout DeletedFeatures
  ) throws(FieldpackError) {
    guard try writer.feature(person, in: SensorLayers.person) != nil else {
      throw missing(person, SensorLayers.person)
    }
    deleted.add(of: SensorLayers.person)
    for item in try items(of: person) { try delete(item, &deleted) }
    try writer.delete(person, in: SensorLayers.person)
  }

  // MARK: Items

  /// The rows of a person's items in their order.
  func items(of person: FeatureID) throws(FieldpackError) -> [Feature] {
    guard case .integer(let id) = person else { return [] }
    return try writer.features(Item.query.where(Column<Int64>("person_id") == id))
  }

  func item(_ id: FeatureID) throws(FieldpackError) -> Feature {
    guard let row = try writer.feature(id, in: SensorLayers.item) else {
      throw missing(id, SensorLayers.item)
    }
    return row
  }

  /// An item as it is now.
  func item(_ id: FeatureID, of store: StoreID) throws(FieldpackError) -> Item {
    guard case .integer(let number) = id,
      let item = try writer.items(
        Item.query.where(Column<Int64>("fid") == number), of: store
      ).first
    else { throw missing(id, SensorLayers.item) }
    return item
  }

  /// - Parameter index: its place among the person's items; `nil` for the last.
  func create(
    _ draft: ItemDraft, of person: FeatureID, at index: Int?
  ) throws(FieldpackError) -> FeatureID {
    guard try writer.feature(person, in: SensorLayers.person) != nil else {
      throw missing(person, SensorLayers.person)
    }
    let others = try items(of: person).compactMap(\.id)
    var attributes = try attributes(of: draft, replacing: nil)
    attributes["person_id"] = try number(person)
    attributes["item_index"] = .integer(Int64(others.count))
    attributes["created_at"] = .dateTime(now)
    let id = try writer.create(
      Feature(geometry: draft.position.map { .point(x: $0.x, y: $0.y) }, attributes: attributes),
      in: SensorLayers.item)
    try writer.link(person, to: id, by: relations.items)
    if let index, index < others.count {
      var order = others
      order.insert(id, at: max(0, index))
      try renumber(order)
    }
    return id
  }

  /// Sets what an item captures and by what. What was captured stays, and where.
  func set(_ item: FeatureID, to draft: ItemDraft) throws(FieldpackError) {
    let row = try self.item(item)
    try writer.update(
      item, in: SensorLayers.item, set: try attributes(of: draft, replacing: row),
      geometry: draft.position.map { .set(.point(x: $0.x, y: $0.y)) } ?? .keep)
  }

  private func attributes(
    of draft: ItemDraft, replacing item: Feature?
  ) throws(FieldpackError) -> Attributes {
    let old = item?[Column<Int64>("device_id")].map { FeatureID.integer($0) }
    var device: Value = .null
    if var found = draft.device {
      found.aim(at: draft.modality, draft.captureType)
      let values = found.attributes(edited: now)
      if let old {
        try writer.update(old, in: SensorLayers.device, set: values)
        device = try number(old)
      } else {
        device = try number(try writer.create(Feature(attributes: values), in: SensorLayers.device))
      }
    } else if let old {
      // The reference goes first, and then what it refers to.
      if let id = item?.id {
        try writer.update(id, in: SensorLayers.item, set: ["device_id": nil])
      }
      try writer.delete(old, in: SensorLayers.device)
    }
    return [
      "modality": .text(draft.modality.title),
      "submodality": .text(draft.captureType.parameterName),
      "device_id": device,
    ]
  }

  func move(_ item: FeatureID, to index: Int) throws(FieldpackError) {
    let row = try self.item(item)
    guard let person = row[Column<Int64>("person_id")] else { return }
    var order = try items(of: .integer(person)).compactMap(\.id).filter { $0 != item }
    order.insert(item, at: min(max(0, index), order.count))
    try renumber(order)
  }

  /// Numbers items from 0 on, in this order.
  private func renumber(_ order: [FeatureID]) throws(FieldpackError) {
    for (index, id) in order.enumerated() {
      let row = try item(id)
      guard row[Column<Int>("item_index")] != index else { continue }
      try writer.update(id, in: SensorLayers.item, set: ["item_index": .integer(Int64(index))])
    }
  }

  /// Deletes what was captured, with its type; marks and notes stay.
  func clear(_ item: FeatureID, _ deleted: inout DeletedFeatures) throws(FieldpackError) {
    _ = try self.item(item)
    try deleteMedia(try writer.related(to: item, by: relations.media), of: item, &deleted)
    try writer.update(
      item, in: SensorLayers.item,
      set: ["data_content_type": nil, "capture_id": nil, "capture_metadata_json": nil])
  }

  /// Deletes items, and renumbers the others of their persons.
  func delete(
    items: [FeatureID], _ deleted: inout DeletedFeatures
  ) throws(FieldpackError) {
    var persons: [Int64] = []
    for id in items {
      let row = try item(id)
      if let person = row[Column<Int64>("person_id")], !persons.contains(person) {
        persons.append(person)
      }
      try delete(row, &deleted)
    }
    for person in persons {
      try renumber(try self.items(of: .integer(person)).compactMap(\.id))
    }
  }

  private func delete(
    _ item: Feature, _ deleted: inout DeletedFeatures
  ) throws(FieldpackError) {
    guard let id = item.id else { return }
    deleted.add(of: SensorLayers.item)
    let files = try writer.related(to: id, by: relations.media)
    try writer.delete(id, in: SensorLayers.item)
    if let device = item[Column<Int64>("device_id")], try !isUsed(device: device) {
      try writer.delete(.integer(device), in: SensorLayers.device)
      deleted.add(of: SensorLayers.device)
    }
    try MediaLayer.deleteUnused(files, writer, &deleted)
  }

  private func isUsed(device: Int64) throws(FieldpackError) -> Bool {
    try writer.count(Query(SensorLayers.item, where: Column<Int64>("device_id") == device)) > 0
  }

  /// Deletes files of an item that nothing else has.
  func deleteMedia(
    _ files: [FeatureID], of item: FeatureID, _ deleted: inout DeletedFeatures
  ) throws(FieldpackError) {
    for file in files { try writer.unlink(item, from: file, by: relations.media) }
    try MediaLayer.deleteUnused(files, writer, &deleted)
  }

  // MARK: Ids

  private func number(_ id: FeatureID) throws(FieldpackError) -> Value {
    guard case .integer(let number) = id else {
      throw FieldpackError(.notFound, "the ids of persons and items are integers")
    }
    return .integer(number)
  }

  private func missing(_ id: FeatureID, _ layer: LayerID) -> FieldpackError {
    let kind = layer == SensorLayers.person ? "person" : "item"
    return FieldpackError(
      .notFound, "there is no \(kind) \(id)", location: .init(layer: layer, feature: id))
  }
}

extension Item {
  /// The rows of items in the order of their places.
  static let query = Query(SensorLayers.item).order(by: [Order("item_index"), Order("fid")])
}
