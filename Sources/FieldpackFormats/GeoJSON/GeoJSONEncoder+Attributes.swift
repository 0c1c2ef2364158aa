import FieldpackCore
import FieldpackGeometry

/// What every feature of a layer repeats, worked out once.
final class GeoJSONPlan: Sendable {
  struct Member {
    /// Where `,"name":` stands in ``names``.
    var name: Range<Int>
    var isBoolean: Bool
    var isJSON: Bool
  }

  let layer: LayerID
  let members: [Member]
  /// The column of each member.
  let columns: [Int]
  let names: [UInt8]
  let idColumn: Int?
  let hasFeatureID: Bool
  /// The name of the feature id as a property, escaped and with its colon; empty where it is none.
  let idName: [UInt8]
  let isSpatialConnect: Bool
  let metadataColumn: Int?
  /// The columns of when a feature was created, and on which device.
  let createdColumn: Int?
  let deviceColumn: Int?
  /// The member `crs` of each feature with a geometry, behind a comma.
  let crs: [UInt8]
  /// The key tuple up to the feature's part.
  let keyPrefix: String

  init(_ schema: Schema, _ options: GeoJSONWriter.Options) {
    layer = schema.layer
    isSpatialConnect = options.spatialConnect != nil
    let idColumn = options.usesFeatureIDs ? nil : schema.columns.firstIndex { $0.isSourceID }
    self.idColumn = idColumn
    hasFeatureID = schema.idColumn != nil && !schema.idIsAttribute
    var idName: [UInt8] = []
    if schema.idIsAttribute, let name = schema.idColumn {
      JSONText.append(name, escaping: .required, to: &idName)
      idName.append(UInt8(ascii: ":"))
    }
    self.idName = idName
    let member = isSpatialConnect ? options.crsMember(schema.geometry?.srs) : nil
    crs = member.map { Array(",\($0)".utf8) } ?? []
    let known = isSpatialConnect ? schema.columns : []
    let metadataColumn = known.firstIndex { $0.description == GeoJSONReader.metadataTitle }
    self.metadataColumn = metadataColumn
    createdColumn = known.firstIndex { $0.metadata == .created }
    deviceColumn = known.firstIndex { $0.metadata == .device }
    columns = schema.columns.indices.filter { index in
      index != idColumn && index != metadataColumn
        && (options.spatialConnect == nil || schema.columns[index].metadata == nil)
    }
    var (names, members): ([UInt8], [Member]) = ([], [])
    for column in columns.map({ schema.columns[$0] }) {
      let start = names.count
      if start > 0 { names.append(UInt8(ascii: ",")) }
      JSONText.append(column.name, escaping: .required, to: &names)
      names.append(UInt8(ascii: ":"))
      members.append(
        Member(
          name: start..<names.count, isBoolean: column.type == .boolean,
          isJSON: column.type == .json))
    }
    (self.names, self.members) = (names, members)
    let store = options.keyStore.map {
      [$0.rawValue, schema.layer.rawValue].map { Base64.encode($0.utf8) + "." }.joined()
    }
    keyPrefix = store ?? ""
  }
}

extension GeoJSONEncoder {
  /// Appends the member `id`; a feature whose source gave it none has none.
  mutating func appendID(_ row: borrowing some FeatureRow & ~Copyable, _ plan: GeoJSONPlan) {
    if options.keyStore != nil {
      body.bytes += ",\"id\":".utf8
      let key = plan.keyPrefix + Base64.encode(row.id.description.utf8)
      JSONText.append(key, escaping: .required, to: &body.bytes)
    } else if let column = plan.idColumn {
      guard row.kind(at: column) != .null else { return }
      body.bytes += ",\"id\":".utf8
      appendValue(row, column, isJSON: false)
    } else if plan.hasFeatureID {
      if case .integer(let id) = row.id, !plan.isSpatialConnect {
        body.bytes.appendRun(upTo: NumberText.room + 8) { text in
          text.append(",\"id\":")
          text.append(id)
        }
      } else {
        body.bytes += ",\"id\":".utf8
        JSONText.append(row.id.description, escaping: .required, to: &body.bytes)
      }
    }
  }

  mutating func appendProperties(
    _ row: borrowing some FeatureRow & ~Copyable, _ plan: GeoJSONPlan
  ) {
    if !plan.idName.isEmpty, case .integer(let id) = row.id {
      body.bytes += plan.idName
      body.bytes.appendRun(upTo: NumberText.room + 1) { text in
        text.append(id)
        if !plan.members.isEmpty { text.append(UInt8(ascii: ",")) }
      }
    }
    // A row gives all its values in one call because this code is not made for any one type of rows.
    withCells(row, plan.columns) { encoder, cells, bytes in
      plan.names.withUnsafeBufferPointer { names in
        for (member, cell) in zip(plan.members, cells) {
          let name = UnsafeBufferPointer(rebasing: names[member.name])
          encoder.append(cell, bytes, name, isBoolean: member.isBoolean, isJSON: member.isJSON)
        }
      }
    }
  }

  private mutating func appendValue(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, isJSON: Bool
  ) {
    withCells(row, [column]) { encoder, cells, bytes in
      let noName = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
      encoder.append(cells[0], bytes, noName, isBoolean: false, isJSON: isJSON)
    }
  }

  private mutating func withCells(
    _ row: borrowing some FeatureRow & ~Copyable, _ columns: [Int],
    _ body: (inout Self, [RowCells.Cell], UnsafeBufferPointer<UInt8>) -> Void
  ) {
    var values = RowCells()
    swap(&values, &cells)
    values.removeAll(keptBytes: 1 << 20)
    row.append(columns, to: &values)
    values.bytes.withUnsafeBufferPointer { body(&self, values.cells, $0) }
    swap(&values, &cells)
  }

  /// Appends a name with its colon, then the value.
  private mutating func append(
    _ cell: RowCells.Cell, _ bytes: UnsafeBufferPointer<UInt8>,
    _ name: UnsafeBufferPointer<UInt8>, isBoolean: Bool, isJSON: Bool
  ) {
    switch cell.kind {
    case .null:
      body.bytes.appendRun(upTo: name.count + 4) { text in
        text.append(name)
        text.append("null")
      }
    case .integer:
      let value = Int64(bitPattern: cell.bits)
      body.bytes.appendRun(upTo: name.count + NumberText.room) { text in
        text.append(name)
        if isBoolean, value == 0 || value == 1 {
          text.append(value == 1 ? "true" : "false")
        } else {
          text.append(value)
        }
      }
    case .real:
      let value = Double(bitPattern: cell.bits)
      body.bytes.appendRun(upTo: name.count + NumberText.room + 4) { text in
        text.append(name)
        if !text.append(value) {
          text.append("null")
        } else if NumberText.isWritten(whole: value) {
          text.append(".0")
        }
      }
    case .text: append(name, Self.content(of: cell, bytes), isJSON: isJSON)
    case .blob:
      body.bytes.append(contentsOf: name)
      let content = UnsafeRawBufferPointer(Self.content(of: cell, bytes))
      JSONText.append(Base64.encode(content), escaping: .required, to: &body.bytes)
    }
  }

  private static func content(
    of cell: RowCells.Cell, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[cell.range])
  }

  /// Appends a text, or the JSON in it; what is said to be JSON and is not is a text after all.
  private mutating func append(
    _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, isJSON: Bool
  ) {
    if isJSON, let compact = Self.compact(value) {
      body.bytes.append(contentsOf: name)
      body.bytes += compact
    } else {
      JSONText.append(value, after: name, escaping: .required, to: &body.bytes)
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
    _ row: borrowing some FeatureRow & ~Copyable, _ plan: GeoJSONPlan
  ) {
    body.bytes += ",\"metadata\":".utf8
    if let column = plan.metadataColumn, row.kind(at: column) != .null {
      return appendValue(row, column, isJSON: true)
    }
    let (created, device) = (text(row, plan.createdColumn), text(row, plan.deviceColumn))
    let moment = created.flatMap { Instant($0) } ?? options.spatialConnect?.createdAt
    let known: [(String, String?)] = [
      ("created_at", moment.map(Self.spatialConnectTime)),
      ("client", device ?? options.spatialConnect?.client),
      ("storeId", (options.spatialConnect?.store ?? options.keyStore)?.rawValue),
      ("layerId", plan.layer.rawValue), ("edit_id", options.spatialConnect?.editID),
      ("author", options.spatialConnect?.author),
    ]
    var separator = "{"
    for (name, value) in known {
      guard let value else { continue }
      body.bytes += separator.utf8
      separator = ","
      JSONText.append(name, escaping: .required, to: &body.bytes)
      body.bytes.append(UInt8(ascii: ":"))
      JSONText.append(value, escaping: .required, to: &body.bytes)
    }
    body.bytes.append(UInt8(ascii: "}"))
  }

  private func text(_ row: borrowing some FeatureRow & ~Copyable, _ column: Int?) -> String? {
    guard let column, row.kind(at: column) == .text else { return nil }
    return row.withBytes(at: column) { span in
      span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// SpatialConnect's `yyyy-MM-dd HH:mm:ss zzz`.
  private static func spatialConnectTime(_ instant: Instant) -> String {
    let text = instant.description
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) GMT"
  }
}
