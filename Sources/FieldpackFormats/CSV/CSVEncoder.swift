package import FieldpackCore
import FieldpackGeometry

/// Encodes the features of one layer as CSV; see ``CSVWriter``.
package struct CSVEncoder: FeatureTextEncoder {
  private let options: CSVWriter.Options
  private var schema: Schema?
  private var booleans: [Bool] = []
  var bytes: [UInt8] = []
  package private(set) var count = 0
  var skipped: [SkippedFeature] = []
  package private(set) var failure: FieldpackError?

  init(options: CSVWriter.Options) { self.options = options }

  package var layer: LayerID? { schema?.layer }
  package var byteCount: Int { bytes.count }

  /// Forgets the features, not the layer.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    count = 0
    skipped = []
    failure = nil
  }

  /// Begins the layer with its columns.
  ///
  /// - Throws: `.invalidArgument` for a second layer.
  package mutating func begin(_ schema: Schema) throws(FieldpackError) {
    if try self.schema.isRepeated(by: schema, in: "CSV") { return }
    self.schema = schema
    booleans = schema.columns.map { $0.type == .boolean }
  }

  mutating func appendHeader(_ schema: Schema) {
    var isFirst = true
    if options.keyStore != nil { append(header: "key", &isFirst) }
    if let id = schema.idColumn { append(header: id, &isFirst) }
    for column in schema.columns { append(header: column.name, &isFirst) }
    if schema.geometry != nil {
      for name in options.geometry == .wkt ? ["wkt"] : ["x", "y"] {
        append(header: name.numbered { schema.columnIndex($0) == nil }, &isFirst)
      }
    }
    endRow()
  }

  package mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    guard let schema else {
      throw FieldpackError(.invalidArgument, "a feature came before its layer")
    }
    guard failure == nil else { return }
    let start = bytes.count
    do throws(FieldpackError) {
      try append(row, schema)
      count += 1
    } catch {
      bytes.removeSubrange(start...)
      if options.skipsErrors {
        skipped.append(SkippedFeature(error))
      } else {
        failure = error
      }
    }
  }

  private mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ schema: Schema
  ) throws(FieldpackError) {
    var isFirst = true
    if let store = options.keyStore {
      let key = KeyTuple(store: store, layer: schema.layer, feature: row.id)
      append(name: key.description, &isFirst)
    }
    if schema.idColumn != nil {
      if case .integer(let id) = row.id {
        separate(&isFirst)
        bytes.appendRun(upTo: NumberText.room) { $0.append(id) }
      } else {
        append(name: row.id.description, &isFirst)
      }
    }
    for index in booleans.indices {
      separate(&isFirst)
      append(row, index, isBoolean: booleans[index])
    }
    if schema.geometry != nil { try appendGeometry(row, schema, &isFirst) }
    endRow()
  }

  // MARK: Fields

  private mutating func endRow() { bytes.append(contentsOf: "\r\n".utf8) }

  private mutating func separate(_ isFirst: inout Bool) {
    if !isFirst { bytes.append(options.delimiter) }
    isFirst = false
  }

  /// Appends a name of the header. Readers find the file's delimiter by the header, so a name that
  /// holds any delimiter they know is quoted.
  private mutating func append(header name: String, _ isFirst: inout Bool) {
    separate(&isFirst)
    var name = name
    let holdsDelimiter = name.utf8.contains(where: CSVReader.delimiters.contains)
    name.withUTF8 { append(text: $0, isQuoted: holdsDelimiter) }
  }

  private mutating func append(name: String, _ isFirst: inout Bool) {
    separate(&isFirst)
    var name = name
    name.withUTF8 { append(text: $0) }
  }

  private mutating func append(text: UnsafeBufferPointer<UInt8>, isQuoted: Bool = false) {
    guard isQuoted || needsQuotes(text) else {
      bytes.append(contentsOf: text)
      return
    }
    let quote = UInt8(ascii: "\"")
    bytes.append(quote)
    for byte in text {
      if byte == quote { bytes.append(quote) }
      bytes.append(byte)
    }
    bytes.append(quote)
  }

  /// Blanks at the ends are quoted, too: some readers take them off.
  private func needsQuotes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = text.first, let last = text.last, first > 0x20, last > 0x20 else {
      return true
    }
    return text.contains {
      $0 == options.delimiter || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n")
        || $0 == UInt8(ascii: "\r")
    }
  }

  private mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ index: Int, isBoolean: Bool
  ) {
    switch row.kind(at: index) {
    case .null: break
    case .integer:
      let value = row.integer(at: index)
      if isBoolean, value == 0 || value == 1 {
        bytes.append(contentsOf: (value == 1 ? "true" : "false").utf8)
      } else {
        NumberText.append(value, to: &bytes)
      }
    case .real: append(row.real(at: index))
    case .text:
      row.withBytes(at: index) { span in
        span.withUnsafeBytes { append(text: $0.assumingMemoryBound(to: UInt8.self)) }
      }
    case .blob:
      row.withBytes(at: index) { span in
        span.withUnsafeBytes { bytes.append(contentsOf: Base64.encode($0).utf8) }
      }
    }
  }

  private mutating func append(_ value: Double) {
    guard value.isFinite else {
      let text = value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
      bytes.append(contentsOf: text.utf8)
      return
    }
    bytes.appendRun(upTo: NumberText.room + 4) { text in
      text.append(value)
      if NumberText.isWritten(whole: value) { text.append(".0") }
    }
  }

  // MARK: Geometry

  private mutating func appendGeometry(
    _ row: borrowing some FeatureRow & ~Copyable, _ schema: Schema, _ isFirst: inout Bool
  ) throws(FieldpackError) {
    separate(&isFirst)
    let start = bytes.count
    let form = options.geometry
    do {
      let written: Bool? = try row.withGeometry { span throws(GeometryError) in
        switch form {
        case .wkt: try appendWKT(span, start)
        case .xy: try appendPoint(span)
        }
        return true
      }
      if written == nil, form == .xy { bytes.append(options.delimiter) }
    } catch {
      throw FieldpackError(
        .invalidData, "the geometry of feature \(row.id) in layer '\(schema.layer)': \(error)",
        location: .init(layer: schema.layer, feature: row.id), underlying: error)
    }
  }

  private mutating func appendWKT(_ span: RawSpan, _ start: Int) throws(GeometryError) {
    try WKT.append(wkb: span, to: &bytes, decimals: options.decimals)
    // WKT has no quotes, and blanks only inside.
    if bytes[start...].contains(options.delimiter) {
      bytes.insert(UInt8(ascii: "\""), at: start)
      bytes.append(UInt8(ascii: "\""))
    }
  }

  private mutating func appendPoint(_ span: RawSpan) throws(GeometryError) {
    let geometry = try WKB.read(span)
    guard case .point(let position, _) = geometry else {
      throw GeometryError(
        .unknownType, at: 0, "a \(geometry.type.name) has no x and y. Try: WKT")
    }
    if let position { append(ordinate: position.x) }
    bytes.append(options.delimiter)
    if let position { append(ordinate: position.y) }
  }

  private mutating func append(ordinate: Double) {
    if let decimals = options.decimals {
      NumberText.append(ordinate, decimals: decimals, to: &bytes)
    } else {
      NumberText.append(ordinate, to: &bytes)
    }
  }
}
