public import FieldpackCore
import FieldpackGeometry

/// Writes one layer as CSV after RFC 4180: UTF-8, CRLF, a header, quotes where needed.
///
/// The columns are the key tuple if asked for, the feature id, the attributes in their order, and
/// the geometry. NULL is an empty field and an empty text `""`; booleans are `true` and `false`,
/// reals keep a `.0` that tells them from integers, blobs are Base64. Texts are not altered, also
/// where a spreadsheet takes them for a formula.
public struct CSVWriter: FeatureSink {
  /// How the geometry is written.
  public enum GeometryForm: Hashable, Sendable {
    /// One column `wkt`.
    case wkt
    /// Two columns `x` and `y`, for points; anything else is an error.
    case xy
  }

  public struct Options: Sendable {
    public var geometry = GeometryForm.wkt
    public var delimiter = UInt8(ascii: ",")
    /// Writes a first column `key` with the tuple of this store, the layer and the feature.
    public var keyStore: StoreID?
    /// Rounds coordinates to so many decimals; `nil` writes the shortest exact form.
    public var decimals: Int?
    /// Passes over features that cannot be written instead of throwing.
    public var skipsErrors = false

    public init() {}
  }

  private let output: ByteOutput
  private let options: Options
  private var schema: Schema?
  /// The features passed over.
  public private(set) var skipped: [SkippedFeature] = []

  /// - Parameter output: the caller finishes it when the last feature is written.
  public init(_ output: ByteOutput, options: Options = Options()) {
    self.output = output
    self.options = options
  }

  /// Writes the header.
  ///
  /// - Throws: `.invalidArgument` for a second layer.
  public mutating func begin(_ schema: Schema) throws(FieldpackError) {
    if let first = self.schema {
      guard first.layer == schema.layer else {
        throw FieldpackError(
          .invalidArgument, "CSV takes one layer, not '\(first.layer)' and '\(schema.layer)'",
          location: .init(layer: schema.layer))
      }
      return
    }
    self.schema = schema
    var isFirst = true
    if options.keyStore != nil { append(name: "key", &isFirst) }
    if let id = schema.idColumn { append(name: id, &isFirst) }
    for column in schema.columns { append(name: column.name, &isFirst) }
    if schema.geometry != nil {
      for name in options.geometry == .wkt ? ["wkt"] : ["x", "y"] {
        append(name: Self.free(name, in: schema), &isFirst)
      }
    }
    endRow()
  }

  private static func free(_ name: String, in schema: Schema) -> String {
    var unique = name
    var number = 1
    while schema.columnIndex(unique) != nil {
      number += 1
      unique = "\(name)_\(number)"
    }
    return unique
  }

  public mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError)
  {
    guard let schema else {
      throw FieldpackError(.invalidArgument, "a feature came before its layer")
    }
    let start = output.buffer.count
    var isFirst = true
    if let store = options.keyStore {
      let key = KeyTuple(store: store, layer: schema.layer, feature: row.id)
      append(name: key.description, &isFirst)
    }
    if schema.idColumn != nil { append(name: row.id.description, &isFirst) }
    for (index, column) in schema.columns.enumerated() {
      separate(&isFirst)
      append(row, index, column.type)
    }
    do throws(FieldpackError) {
      if schema.geometry != nil { try appendGeometry(row, schema, &isFirst) }
    } catch {
      output.buffer.removeSubrange(start...)
      guard options.skipsErrors else { throw error }
      skipped.append(SkippedFeature(location: error.location, reason: error.message))
      return
    }
    endRow()
    try output.flushIfFull()
  }

  // MARK: Fields

  private func endRow() { output.buffer.append(contentsOf: "\r\n".utf8) }

  private func separate(_ isFirst: inout Bool) {
    if !isFirst { output.buffer.append(options.delimiter) }
    isFirst = false
  }

  private func append(name: String, _ isFirst: inout Bool) {
    separate(&isFirst)
    var name = name
    name.withUTF8 { append(text: $0) }
  }

  private func append(text: UnsafeBufferPointer<UInt8>) {
    guard needsQuotes(text) else {
      output.buffer.append(contentsOf: text)
      return
    }
    let quote = UInt8(ascii: "\"")
    output.buffer.append(quote)
    for byte in text {
      if byte == quote { output.buffer.append(quote) }
      output.buffer.append(byte)
    }
    output.buffer.append(quote)
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

  private func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ index: Int, _ type: ColumnType
  ) {
    switch row.kind(at: index) {
    case .null: break
    case .integer:
      let value = row.integer(at: index)
      if type == .boolean, value == 0 || value == 1 {
        output.buffer.append(contentsOf: (value == 1 ? "true" : "false").utf8)
      } else {
        NumberText.append(value, to: &output.buffer)
      }
    case .real: append(row.real(at: index))
    case .text:
      row.withBytes(at: index) { span in
        span.withUnsafeBytes { append(text: $0.assumingMemoryBound(to: UInt8.self)) }
      }
    case .blob:
      row.withBytes(at: index) { span in
        span.withUnsafeBytes { output.buffer.append(contentsOf: Base64.encode($0).utf8) }
      }
    }
  }

  private func append(_ value: Double) {
    guard value.isFinite else {
      let text = value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
      output.buffer.append(contentsOf: text.utf8)
      return
    }
    let start = output.buffer.count
    NumberText.append(value, to: &output.buffer)
    let isInteger = output.buffer[start...].allSatisfy {
      $0 == UInt8(ascii: "-") || $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
    }
    if isInteger { output.buffer.append(contentsOf: ".0".utf8) }
  }

  // MARK: Geometry

  private func appendGeometry(
    _ row: borrowing some FeatureRow & ~Copyable, _ schema: Schema, _ isFirst: inout Bool
  ) throws(FieldpackError) {
    separate(&isFirst)
    let start = output.buffer.count
    let form = options.geometry
    do {
      let written: Bool? = try row.withGeometry { span throws(GeometryError) in
        switch form {
        case .wkt: try appendWKT(span, start)
        case .xy: try appendPoint(span)
        }
        return true
      }
      if written == nil, form == .xy { output.buffer.append(options.delimiter) }
    } catch {
      throw FieldpackError(
        .invalidData, "the geometry of feature \(row.id) in layer '\(schema.layer)': \(error)",
        location: .init(layer: schema.layer, feature: row.id), underlying: error)
    }
  }

  private func appendWKT(_ span: RawSpan, _ start: Int) throws(GeometryError) {
    try WKT.append(wkb: span, to: &output.buffer, decimals: options.decimals)
    // WKT has no quotes, and blanks only inside.
    if output.buffer[start...].contains(options.delimiter) {
      output.buffer.insert(UInt8(ascii: "\""), at: start)
      output.buffer.append(UInt8(ascii: "\""))
    }
  }

  private func appendPoint(_ span: RawSpan) throws(GeometryError) {
    let geometry = try WKB.read(span)
    guard case .point(let position, _) = geometry else {
      throw GeometryError(
        .unknownType, at: 0, "a \(geometry.type.name) has no x and y. Try: WKT")
    }
    if let position { append(ordinate: position.x) }
    output.buffer.append(options.delimiter)
    if let position { append(ordinate: position.y) }
  }

  private func append(ordinate: Double) {
    if let decimals = options.decimals {
      NumberText.append(ordinate, decimals: decimals, to: &output.buffer)
    } else {
      NumberText.append(ordinate, to: &output.buffer)
    }
  }
}
