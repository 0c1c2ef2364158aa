public import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// An export of persons with their items, which says what leaves the file.
///
///     let export = try await ItemExport(of: persons, in: catalogue)
///     print(export.summary(as: .folder))   // what leaves, by the names of columns
///     try await export.writeFolder(to: "session")
public struct ItemExport: Sendable {
  let catalogue: PersonCatalogue
  let rows: [Row]

  /// What an export can be written as.
  public enum Form: Hashable, Sendable, CaseIterable {
    /// A folder with all files and `session.json`, by ``ItemExport/writeFolder(to:)``.
    case folder
    /// ``ItemExport/geoJSON``, which has no files.
    case geoJSON
    /// The page of HTML by ``ItemExport/page()``. Of an item it shows the thumbnail, type, marks and
    /// notes.
    case page
  }

  /// A person with items and their files.
  struct Row: Sendable {
    var person: Person
    var items: [(item: Item, files: [ItemFile])]
  }

  /// - Parameter persons: those that are exported with all of their items.
  public init(
    of persons: [Person], in catalogue: PersonCatalogue
  ) async throws(FieldpackError) {
    self.catalogue = catalogue
    var rows: [Row] = []
    for person in persons {
      var items: [(Item, [ItemFile])] = []
      for item in try await catalogue.items(of: person.key) {
        items.append((item, try await catalogue.files(of: item.key)))
      }
      rows.append(Row(person: person, items: items))
    }
    self.rows = rows
  }

  // MARK: What leaves

  public var personCount: Int { rows.count }
  public var itemCount: Int { rows.reduce(0) { $0 + $1.items.count } }

  private func files(as form: Form) -> [ItemFile] {
    let files = rows.flatMap { $0.items.map(\.files) }
    return switch form {
    case .folder: files.flatMap { $0 }
    case .geoJSON: []
    case .page: files.compactMap { Self.thumbnail(of: $0) }
    }
  }

  /// What a page shows of an item with these files.
  static func thumbnail(of files: [ItemFile]) -> ItemFile? {
    files.first { $0.role == .thumbnail }
  }

  /// The names of what a form tells of persons and items, such as `last_name`; never the values.
  public func names(as form: Form) -> [String] {
    var names: [String] = []
    for row in rows {
      let attributes = row.person.details.attributes
      for name in attributes.names where !names.contains(name) {
        guard case .text(let text)? = attributes[name], !text.isEmpty, text != "[]" else {
          continue
        }
        names.append(name)
      }
    }
    let items = rows.flatMap { $0.items.map(\.item) }
    let facts: KeyValuePairs<String, (Item) -> Bool> = [
      "annotations": { $0.annotations.contains(true) }, "item notes": { $0.notes != nil },
    ]
    for (name, holds) in facts where items.contains(where: holds) { names.append(name) }
    guard form != .page else { return names }
    let others: KeyValuePairs<String, (Item) -> Bool> = [
      "capture metadata": { $0.metadataJSON != nil }, "positions": { $0.position != nil },
      "sensor addresses": { $0.device != nil },
    ]
    for (name, holds) in others where items.contains(where: holds) { names.append(name) }
    return names
  }

  /// What leaves the file in a form, such as
  /// `2 persons, 3 items and 4 files (1234 bytes) leave the file, with: last_name, positions`.
  public func summary(as form: Form) -> String {
    let files = files(as: form)
    let bytes = files.reduce(0) { $0 + $1.byteCount }
    let names = names(as: form)
    return personCount.counting("person") + ", " + itemCount.counting("item") + " and "
      + files.count.counting("file") + " (" + bytes.counting("byte") + ") leave the file"
      + (names.isEmpty ? "" : ", with: " + names.joined(separator: ", "))
  }

  // MARK: Documents

  /// All of it but the bytes of files.
  ///
  /// - Parameter path: where a file lies beside the document.
  func document(path: (Item, Int, ItemFile) -> String) -> JSONValue {
    let persons = rows.map { row in
      var members = Self.members(of: row.person)
      let items = row.items.map { item, files in
        var members = Self.members(of: item)
        let listed = files.enumerated().map { index, file -> JSONValue in
          [
            "role": .text(file.role.rawValue), "file": .text(path(item, index, file)),
            "content_type": .text(file.contentType), "byte_count": JSONValue(file.byteCount),
            "sha256": .text(file.sha256),
          ]
        }
        members.append(.init(name: "files", value: .array(listed)))
        return JSONValue.object(members)
      }
      members.append(.init(name: "items", value: .array(items)))
      return JSONValue.object(members)
    }
    return ["persons": .array(persons)]
  }

  /// GeoJSON with a feature for each item, where it was captured; one of an unknown place has no
  /// geometry.
  public var geoJSON: String {
    let features = rows.flatMap { row in
      row.items.map { item, _ -> JSONValue in
        var properties = Self.members(of: item).filter { $0.name != "position" }
        properties.append(
          .init(name: "person", value: .object(Self.members(of: row.person))))
        let geometry: JSONValue =
          if let position = item.position {
            ["type": "Point", "coordinates": [.real(position.x), .real(position.y)]]
          } else { .null }
        return [
          "type": "Feature", "id": .text(item.key.feature.description), "geometry": geometry,
          "properties": .object(properties),
        ]
      }
    }
    let collection: JSONValue = ["type": "FeatureCollection", "features": .array(features)]
    return collection.text + "\n"
  }

  private static func members(of person: Person) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = [
      .init(name: "id", value: .text(person.key.feature.description))
    ]
    for (name, path) in PersonDetails.texts {
      guard let text = person.details[keyPath: path] else { continue }
      members.append(.init(name: name, value: .text(text)))
    }
    for (name, path) in PersonDetails.lists where !person.details[keyPath: path].isEmpty {
      members.append(
        .init(
          name: String(name.dropLast("_json".count)),
          value: JSONValue(person.details[keyPath: path])
        ))
    }
    members.append(.init(name: "created_at", value: .text(person.createdAt.description)))
    return members
  }

  private static func members(of item: Item) -> [JSONValue.Member] {
    let metadata = item.metadataJSON.flatMap { try? JSONValueReader.read($0) }
    let position = item.position.map { JSONValue.array([.real($0.x), .real($0.y)]) }
    let document = JSONValue.members([
      "item": .text(item.key.feature.description), "index": JSONValue(item.index),
      "modality": item.modality.map { .text($0) },
      "submodality": item.submodality.map { .text($0) },
      "sensor": item.device.map { ["uri": .text($0.address.uri), "name": .text($0.address.name)] },
      "content_type": item.contentType.map { .text($0) },
      "capture_id": item.captureId.map { .text($0) }, "metadata": metadata,
      "annotations": item.annotations.contains(true)
        ? .array(item.annotations.map { .boolean($0) }) : nil,
      "notes": item.notes.map { .text($0) }, "position": position,
      "created_at": .text(item.createdAt.description),
    ])
    guard case .object(let members) = document else { return [] }
    return members
  }
}
