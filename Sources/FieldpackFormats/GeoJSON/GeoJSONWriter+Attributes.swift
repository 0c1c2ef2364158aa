import FieldpackCore
import FieldpackGeometry

extension GeoJSONWriter {
  /// Works out once what every feature repeats.
  mutating func prepare(_ schema: Schema) {
    idPlace = schema.columns.firstIndex { $0.isSourceID }
    if options.spatialConnect != nil {
      metadataPlace = schema.columns.firstIndex { $0.description == GeoJSONReader.metadataTitle }
    }
    var isFirst = true
    names = schema.columns.indices.map { index in
      if index == idPlace || index == metadataPlace { return nil }
      var name: [UInt8] = isFirst ? [] : [UInt8(ascii: ",")]
      isFirst = false
      JSONText.append(schema.columns[index].name, to: &name)
      name.append(UInt8(ascii: ":"))
      return name
    }
    if let store = options.keyStore {
      let parts = [store.rawValue, schema.layer.rawValue].map { Base64.encode($0.utf8) }
      keyPrefix = parts.joined(separator: ".") + "."
    }
  }

  /// Appends the member `id`; a feature whose source gave it none has none.
  mutating func appendID(_ row: borrowing some FeatureRow & ~Copyable) {
    let member = ",\"id\":"
    if options.keyStore != nil {
      body.bytes += member.utf8
      JSONText.append(keyPrefix + Base64.encode(row.id.description.utf8), to: &body.bytes)
    } else if let idPlace {
      guard row.kind(at: idPlace) != .null else { return }
      body.bytes += member.utf8
      appendStored(row, idPlace, .text())
    } else if schema?.idColumn != nil {
      body.bytes += member.utf8
      switch row.id {
      case .integer(let id) where options.spatialConnect == nil:
        NumberText.append(id, to: &body.bytes)
      default: JSONText.append(row.id.description, to: &body.bytes)
      }
    }
  }

  mutating func appendProperties(
    _ row: borrowing some FeatureRow & ~Copyable, _ schema: Schema
  ) {
    for index in names.indices {
      guard let name = names[index] else { continue }
      body.bytes += name
      appendStored(row, index, schema.columns[index].type)
    }
  }

  private mutating func appendStored(
    _ row: borrowing some FeatureRow & ~Copyable, _ index: Int, _ type: ColumnType
  ) {
    switch row.kind(at: index) {
    case .null: body.bytes += "null".utf8
    case .integer:
      let value = row.integer(at: index)
      if type == .boolean, value == 0 || value == 1 {
        body.bytes += (value == 1 ? "true" : "false").utf8
      } else {
        NumberText.append(value, to: &body.bytes)
      }
    case .real: append(real: row.real(at: index))
    case .text:
      row.withBytes(at: index) { span in
        span.withUnsafeBytes {
          append($0.assumingMemoryBound(to: UInt8.self), isJSON: type == .json)
        }
      }
    case .blob:
      let encoded = row.withBytes(at: index) { span in
        span.withUnsafeBytes { Base64.encode($0) }
      }
      JSONText.append(encoded, to: &body.bytes)
    }
  }

  private mutating func append(real value: Double) {
    let start = body.bytes.count
    guard NumberText.append(value, to: &body.bytes) else {
      body.bytes += "null".utf8
      return
    }
    let isWhole = body.bytes[start...].allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != 0x65 }
    if isWhole { body.bytes += ".0".utf8 }
  }

  /// Appends a text, or the JSON in it; what is said to be JSON and is not is a text after all.
  private mutating func append(_ value: UnsafeBufferPointer<UInt8>, isJSON: Bool) {
    if isJSON, let compact = Self.compact(value) {
      body.bytes += compact
    } else {
      JSONText.append(value, to: &body.bytes)
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
  mutating func appendMetadata(
    _ row: borrowing some FeatureRow & ~Copyable, _ schema: Schema
  ) {
    body.bytes += ",\"metadata\":".utf8
    if let metadataPlace, row.kind(at: metadataPlace) != .null {
      return appendStored(row, metadataPlace, .json)
    }
    let known: [(String, String?)] = [
      ("created_at", options.spatialConnect?.createdAt.map(Self.spatialConnectTime)),
      ("client", options.spatialConnect?.client),
      ("storeId", (options.spatialConnect?.store ?? options.keyStore)?.rawValue),
      ("layerId", schema.layer.rawValue),
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
