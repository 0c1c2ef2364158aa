import FieldpackCore
import FieldpackGeometry

/// What every feature of a layer repeats, worked out once.
struct GeoJSONPlan: Sendable {
  struct Member {
    var column: Int
    /// Where `,"name":` stands in ``names``.
    var name: Range<Int>
    var isBoolean: Bool
    var isJSON: Bool
  }

  var members: [Member] = []
  var names: [UInt8] = []
  var idPlace: Int?
  var hasFeatureID = false
  var metadataPlace: Int?
  /// The key tuple up to the feature's part.
  var keyPrefix = ""

  init() {}

  init(_ schema: Schema, _ options: GeoJSONWriter.Options) {
    idPlace = schema.columns.firstIndex { $0.isSourceID }
    hasFeatureID = schema.idColumn != nil
    if options.spatialConnect != nil {
      metadataPlace = schema.columns.firstIndex { $0.description == GeoJSONReader.metadataTitle }
    }
    for (index, column) in schema.columns.enumerated()
    where index != idPlace && index != metadataPlace {
      let start = names.count
      if !members.isEmpty { names.append(UInt8(ascii: ",")) }
      JSONText.append(column.name, to: &names)
      names.append(UInt8(ascii: ":"))
      members.append(
        Member(
          column: index, name: start..<names.count, isBoolean: column.type == .boolean,
          isJSON: column.type == .json))
    }
    if let store = options.keyStore {
      let parts = [store.rawValue, schema.layer.rawValue].map { Base64.encode($0.utf8) }
      keyPrefix = parts.joined(separator: ".") + "."
    }
  }
}

extension GeoJSONEncoder {
  /// Appends the member `id`; a feature whose source gave it none has none.
  mutating func appendID(_ row: borrowing some FeatureRow & ~Copyable) {
    if options.keyStore != nil {
      body.bytes += ",\"id\":".utf8
      let key = plan.keyPrefix + Base64.encode(row.id.description.utf8)
      JSONText.append(key, to: &body.bytes)
    } else if let place = plan.idPlace {
      guard row.kind(at: place) != .null else { return }
      body.bytes += ",\"id\":".utf8
      appendValue(row, place, isJSON: false)
    } else if plan.hasFeatureID {
      if case .integer(let id) = row.id, options.spatialConnect == nil {
        body.bytes.appendRun(upTo: NumberText.room + 8) { text in
          text.append(",\"id\":")
          text.append(id)
        }
      } else {
        body.bytes += ",\"id\":".utf8
        JSONText.append(row.id.description, to: &body.bytes)
      }
    }
  }

  mutating func appendProperties(_ row: borrowing some FeatureRow & ~Copyable) {
    // Held apart from what is changed, so that nothing is copied.
    let plan = plan
    plan.names.withUnsafeBufferPointer { names in
      for member in plan.members {
        let name = UnsafeBufferPointer(rebasing: names[member.name])
        append(row, member.column, name, isBoolean: member.isBoolean, isJSON: member.isJSON)
      }
    }
  }

  private mutating func appendValue(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, isJSON: Bool
  ) {
    append(row, column, UnsafeBufferPointer(start: nil, count: 0), isBoolean: false, isJSON: isJSON)
  }

  /// Appends a name with its colon, then the value.
  private mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int,
    _ name: UnsafeBufferPointer<UInt8>, isBoolean: Bool, isJSON: Bool
  ) {
    switch row.kind(at: column) {
    case .null:
      body.bytes.appendRun(upTo: name.count + 4) { text in
        text.append(name)
        text.append("null")
      }
    case .integer:
      let value = row.integer(at: column)
      body.bytes.appendRun(upTo: name.count + NumberText.room) { text in
        text.append(name)
        if isBoolean, value == 0 || value == 1 {
          text.append(value == 1 ? "true" : "false")
        } else {
          text.append(value)
        }
      }
    case .real:
      let value = row.real(at: column)
      body.bytes.appendRun(upTo: name.count + NumberText.room + 4) { text in
        text.append(name)
        if !text.append(value) {
          text.append("null")
        } else if NumberText.isWritten(whole: value) {
          text.append(".0")
        }
      }
    case .text:
      row.withBytes(at: column) { span in
        span.withUnsafeBytes {
          append(name, $0.assumingMemoryBound(to: UInt8.self), isJSON: isJSON)
        }
      }
    case .blob:
      body.bytes.append(contentsOf: name)
      let encoded = row.withBytes(at: column) { span in
        span.withUnsafeBytes { Base64.encode($0) }
      }
      JSONText.append(encoded, to: &body.bytes)
    }
  }

  /// Appends a text, or the JSON in it; what is said to be JSON and is not is a text after all.
  private mutating func append(
    _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, isJSON: Bool
  ) {
    if isJSON, let compact = Self.compact(value) {
      body.bytes.append(contentsOf: name)
      body.bytes += compact
    } else {
      JSONText.append(value, after: name, to: &body.bytes)
    }
  }

  /// The value without blanks, which may be line breaks; `nil` where it is not JSON.
  private static func compact(_ value: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var scanner = JSONScanner(value)
    guard let first = try? scanner.peek(), first != 0, let found = try? scanner.compactValue()
    else {
      return nil
    }
    let compact = Array(found)
    guard let end = try? scanner.peek(), end == 0 else { return nil }
    return compact
  }

  /// Appends SpatialConnect's `metadata`: as it was read, else what is known.
  mutating func appendMetadata(_ row: borrowing some FeatureRow & ~Copyable) {
    body.bytes += ",\"metadata\":".utf8
    if let place = plan.metadataPlace, row.kind(at: place) != .null {
      return appendValue(row, place, isJSON: true)
    }
    let known: [(String, String?)] = [
      ("created_at", options.spatialConnect?.createdAt.map(Self.spatialConnectTime)),
      ("client", options.spatialConnect?.client),
      ("storeId", (options.spatialConnect?.store ?? options.keyStore)?.rawValue),
      ("layerId", schema?.layer.rawValue),
    ]
    var separator = "{"
    for (name, value) in known {
      guard let value else { continue }
      body.bytes += separator.utf8
      separator = ","
      JSONText.append(name, to: &body.bytes)
      body.bytes.append(UInt8(ascii: ":"))
      JSONText.append(value, to: &body.bytes)
    }
    body.bytes.append(UInt8(ascii: "}"))
  }

  /// SpatialConnect's `yyyy-MM-dd HH:mm:ss zzz`.
  private static func spatialConnectTime(_ instant: Instant) -> String {
    let text = instant.description
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) GMT"
  }
}
