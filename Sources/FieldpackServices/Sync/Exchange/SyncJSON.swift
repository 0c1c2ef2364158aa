import FieldpackCore
import FieldpackSQLite

/// The messages of a synchronisation as JSON.
///
/// A blob is `{"b": base64}` and an infinite number `{"r": "inf"}`. Whole real numbers keep their
/// fraction, so that each value comes back as it was.
enum SyncJSON {
  static func value(_ value: SQLiteValue) -> JSONValue {
    switch value {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number) where !number.isFinite:
      .object([.init(name: "r", value: .text(number < 0 ? "-inf" : "inf"))])
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .object([.init(name: "b", value: .text(Base64.encode(bytes)))])
    }
  }

  static func value(_ json: JSONValue) throws(FieldpackError) -> SQLiteValue {
    switch json {
    case .null: return .null
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .text(let text): return .text(text)
    case .object:
      if let text = json["b"]?.string, let bytes = Base64.decode(text.utf8) { return .blob(bytes) }
      switch json["r"]?.string {
      case "inf": return .real(.infinity)
      case "-inf": return .real(-.infinity)
      default: throw broken("a value")
      }
    case .boolean, .array: throw broken("a value")
    }
  }

  static func broken(_ what: String) -> FieldpackError {
    FieldpackError(.invalidData, "a message of the synchronisation has not \(what) where it should")
  }

  static func bytes(_ value: JSONValue) -> [UInt8] {
    var bytes: [UInt8] = []
    value.append(to: &bytes, keepsFractions: true)
    return bytes
  }

  static func read(_ bytes: [UInt8]) throws(FieldpackError) -> JSONValue {
    do throws(JSONMistake) {
      let result = bytes.withUnsafeBufferPointer { bytes in
        Result { () throws(JSONMistake) in try JSONValueReader.read(bytes, maximumDepth: 16) }
      }
      return try result.get()
    } catch {
      throw FieldpackError(
        .invalidData, "a message of the synchronisation is no JSON: \(error.message)")
    }
  }

  // MARK: Members

  static func text(_ name: String, of json: JSONValue) throws(FieldpackError) -> String {
    guard let text = json[name]?.string else { throw broken("a text '\(name)'") }
    return text
  }

  static func integer(_ name: String, of json: JSONValue) throws(FieldpackError) -> Int64 {
    guard case .integer(let number)? = json[name] else { throw broken("a number '\(name)'") }
    return number
  }

  static func list(_ name: String, of json: JSONValue) throws(FieldpackError) -> [JSONValue] {
    guard case .array(let items)? = json[name] else { throw broken("a list '\(name)'") }
    return items
  }
}

extension SyncEdit {
  /// Appends the edit as a JSON object, without a document in memory: edits come in thousands.
  func append(to bytes: inout [UInt8]) {
    func list<Item>(_ name: String, _ items: [Item], _ append: (Item, inout [UInt8]) -> Void) {
      bytes += ",\"\(name)\":".utf8
      JSONValue.append(items, between: ("[", "]"), to: &bytes, append)
    }
    func text(_ name: String, _ text: String?) {
      guard let text else { return }
      bytes += ",\"\(name)\":".utf8
      JSONText.append(text, to: &bytes)
    }
    bytes += "{\"op\":\(operation.rawValue),\"position\":\(position)".utf8
    text("edit_id", id)
    text("identity", identity)
    if let base { bytes += ",\"base\":\(base.position)".utf8 }
    text("replica", base?.replica)
    text("previous", base?.previous)
    list("changed", changed) { JSONText.append($0, to: &$1) }
    list("values", values) { SyncJSON.value($0).append(to: &$1, keepsFractions: true) }
    text("content", content.map { Base64.encode($0) })
    text("sha256", content.map { SHA256.hex($0) })
    text("time", time?.description)
    text("author", author)
    text("device", device)
    bytes.append(UInt8(ascii: "}"))
  }

  init(_ json: JSONValue) throws(FieldpackError) {
    guard
      let operation = OutgoingEdit.Operation(
        rawValue: Int(clamping: try SyncJSON.integer("op", of: json)))
    else { throw SyncJSON.broken("an operation") }
    id = try SyncJSON.text("edit_id", of: json)
    self.operation = operation
    identity = try SyncJSON.text("identity", of: json)
    position = try SyncJSON.integer("position", of: json)
    if let replica = json["replica"]?.string {
      base = Base(
        position: try SyncJSON.integer("base", of: json), replica: replica,
        previous: json["previous"]?.string)
    }
    var (changed, values): ([String], [SQLiteValue]) = ([], [])
    for item in try SyncJSON.list("changed", of: json) {
      guard let name = item.string else { throw SyncJSON.broken("a column's name") }
      changed.append(name)
    }
    for item in try SyncJSON.list("values", of: json) { values.append(try SyncJSON.value(item)) }
    (self.changed, self.values) = (changed, values)
    if let text = json["content"]?.string {
      guard let bytes = Base64.decode(text.utf8), SHA256.hex(bytes) == json["sha256"]?.string else {
        throw FieldpackError(
          .unavailable, "the content of an edit of \(identity) did not come whole")
      }
      content = bytes
    }
    time = json["time"]?.string.flatMap { Instant($0) }
    (author, device) = (json["author"]?.string, json["device"]?.string)
  }
}

extension SyncLayer {
  var json: JSONValue {
    JSONValue.members([
      "name": .text(name.rawValue), "origin": .text(origin),
      "columns": .array(columns.map { .text($0) }),
      "references": .object(
        references.sorted { $0.key < $1.key }
          .map { .init(name: $0.key, value: .text($0.value.rawValue)) }),
      "head": .integer(head), "replica": replica.map { .text($0) },
      "receiver": receiver.map { .text($0) },
    ])
  }

  init(_ json: JSONValue) throws(FieldpackError) {
    name = LayerID(try SyncJSON.text("name", of: json))
    origin = try SyncJSON.text("origin", of: json)
    columns = try SyncJSON.list("columns", of: json).compactMap(\.string)
    references = [:]
    if case .object(let members)? = json["references"] {
      for member in members { references[member.name] = member.value.string.map { LayerID($0) } }
    }
    head = try SyncJSON.integer("head", of: json)
    (replica, receiver) = (json["replica"]?.string, json["receiver"]?.string)
  }
}

extension SyncAnswer {
  func append(to bytes: inout [UInt8]) {
    bytes += "{\"verdict\":\"\(verdict.rawValue)\",\"position\":\(position),\"edit_id\":".utf8
    JSONText.append(edit, to: &bytes)
    if !conflicts.isEmpty {
      bytes += ",\"conflicts\":".utf8
      JSONValue.array(conflicts.map(\.json)).append(to: &bytes, keepsFractions: true)
    }
    if let message {
      bytes += ",\"message\":".utf8
      JSONText.append(message, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  init(_ json: JSONValue) throws(FieldpackError) {
    guard let verdict = Verdict(rawValue: try SyncJSON.text("verdict", of: json)) else {
      throw SyncJSON.broken("a verdict")
    }
    var conflicts: [SyncConflict] = []
    if json["conflicts"] != nil {
      for item in try SyncJSON.list("conflicts", of: json) {
        conflicts.append(try SyncConflict(item))
      }
    }
    self.init(
      try SyncJSON.text("edit_id", of: json), verdict,
      at: try SyncJSON.integer("position", of: json), conflicts: conflicts,
      message: json["message"]?.string)
  }
}

extension SyncReceipt {
  var bytes: [UInt8] {
    var bytes = Array("{\"before\":\(before),\"position\":\(position)".utf8)
    if let edit {
      bytes += ",\"edit_id\":".utf8
      JSONText.append(edit, to: &bytes)
    }
    bytes += ",\"answers\":".utf8
    JSONValue.append(answers, between: ("[", "]"), to: &bytes) { $0.append(to: &$1) }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  init(_ json: JSONValue) throws(FieldpackError) {
    answers = []
    for item in try SyncJSON.list("answers", of: json) { answers.append(try SyncAnswer(item)) }
    before = try SyncJSON.integer("before", of: json)
    position = try SyncJSON.integer("position", of: json)
    edit = json["edit_id"]?.string
  }
}

extension SyncConflict {
  var json: JSONValue {
    JSONValue.members([
      "kind": .text(kind.rawValue), "column": column.map { .text($0) },
      "lost": SyncJSON.value(lost), "kept": SyncJSON.value(kept),
    ])
  }

  init(_ json: JSONValue) throws(FieldpackError) {
    guard let kind = Kind(rawValue: try SyncJSON.text("kind", of: json)) else {
      throw SyncJSON.broken("a kind of conflict")
    }
    self.init(
      kind: kind, column: json["column"]?.string,
      lost: try SyncJSON.value(json["lost"] ?? .null),
      kept: try SyncJSON.value(json["kept"] ?? .null))
  }
}
