import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Converts the values of a feature to what a layer's columns hold, and refuses values that do not
/// fit.
final class FeatureEncoder {
  let file: GeoPackageSession
  // To copy the description of a layer or of a column takes longer than to convert a value. So what each
  // row needs has properties of its own.
  let table: LayerTable
  let layer: LayerID
  private let columns: [ColumnDefinition]
  private let names: [String]
  private let quotedNames: [String]
  /// The name by which the writer was asked for the layer, and the number of the catalogue that has it.
  let name: LayerID
  let catalogue: Int?
  /// Whether the writer knows that rows of the layer have changed.
  var isTouched = false
  /// The columns that the last update has set, and its statement.
  private var updated: [String] = []
  private var update: SessionStatement?

  init(
    file: GeoPackageSession, table: LayerTable, as name: LayerID? = nil, catalogue: Int? = nil
  ) {
    self.file = file
    self.table = table
    layer = table.layer.id
    columns = table.schema.columns
    names = columns.map(\.name)
    quotedNames = names.map { quoted($0) }
    self.name = name ?? layer
    self.catalogue = catalogue
  }

  /// A statement that sets columns of a row, with its values. It is prepared again only where the columns
  /// are not those of the last call.
  func update(
    _ id: Int64, _ values: [(String, SQLiteValue)]
  ) throws(FieldpackError) -> SessionStatement {
    guard let update, hasUpdated(values) else {
      let sql =
        "UPDATE \(quoted(table.table)) SET \(values.map { "\($0.0) = ?" }.sqlList) "
        + "WHERE \(table.idExpression) = ?"
      let statement = try file.prepare(sql, values.map(\.1) + [.integer(id)])
      (updated, update) = (values.map(\.0), statement)
      return statement
    }
    for index in values.indices { try update.bind(values[index].1, at: index + 1) }
    try update.bind(id, at: values.count + 1)
    return update
  }

  private func hasUpdated(_ values: [(String, SQLiteValue)]) -> Bool {
    guard updated.count == values.count else { return false }
    for index in values.indices where !updated[index].hasSameBytes(as: values[index].0) {
      return false
    }
    return true
  }

  /// The column names in SQL, each with the value to bind.
  func values(
    _ attributes: Attributes, of id: FeatureID? = nil
  ) throws(FieldpackError) -> [(String, SQLiteValue)] {
    var values: [(String, SQLiteValue)] = []
    for element in attributes.elements {
      let exact = names.firstIndex { $0.hasSameBytes(as: element.name) }
      guard let index = exact ?? table.schema.columnIndex(element.name) else {
        if table.schema.isID(element.name) { continue }
        throw table.schema.unknownColumn(element.name).adding(location: .init(store: file.store))
      }
      guard !columns[index].isGenerated else {
        throw refused(names[index], "is generated and cannot be written")
      }
      let type = columns[index].type
      guard let value = Self.stored(element.value, in: type) else {
        throw refused(names[index], "is \(type.sql) and cannot hold \(element.value.words)")
      }
      if let constraint = columns[index].constraint, !constraint.allows(Value(value)) {
        throw constraint.refusal(
          of: Value(value), column: names[index],
          .init(store: file.store, layer: table.layer.id, feature: id))
      }
      values.append((quotedNames[index], value))
    }
    return values
  }

  private func refused(_ column: String, _ why: String) -> FieldpackError {
    FieldpackError(
      .invalidData, "column '\(column)' of layer '\(table.layer.id)' \(why)",
      location: .init(store: file.store, layer: table.layer.id))
  }

  /// The stored form of a value; `nil` where the column's type cannot hold it.
  static func stored(_ value: Value, in type: ColumnType) -> SQLiteValue? {
    if case .null = value { return .null }
    switch type {
    case .boolean: return boolean(value)
    case .tinyInt, .smallInt, .mediumInt, .integer: return integer(value, type.integers)
    case .float, .double: return real(value)
    case .text(let limit): return text(value, limit)
    case .json: return text(value, nil)
    case .date:
      switch value {
      case .date(let day): return .text(day.description)
      case .text(let text): return CalendarDate(text) == nil ? nil : .text(text)
      default: return nil
      }
    case .dateTime:
      switch value {
      case .dateTime(let instant): return .text(instant.description)
      case .text(let text): return Instant(text).map { .text($0.description) }
      default: return nil
      }
    case .blob(let limit):
      guard case .blob(let bytes) = value, bytes.count <= limit ?? .max else { return nil }
      return .blob(bytes)
    case .other: return SQLiteValue(value)
    }
  }

  private static func boolean(_ value: Value) -> SQLiteValue? {
    switch value {
    case .boolean(let flag): .integer(flag ? 1 : 0)
    case .integer(let number) where number == 0 || number == 1: .integer(number)
    default: nil
    }
  }

  private static func integer(_ value: Value, _ range: ClosedRange<Int64>) -> SQLiteValue? {
    let number: Int64? =
      switch value {
      case .integer(let number): number
      case .real(let number): Int64(exactly: number)
      case .boolean(let flag): flag ? 1 : 0
      default: nil
      }
    guard let number, range.contains(number) else { return nil }
    return .integer(number)
  }

  private static func real(_ value: Value) -> SQLiteValue? {
    switch value {
    case .real(let number): .real(number)
    case .integer(let number): Double(exactly: number).map(SQLiteValue.real)
    default: nil
    }
  }

  private static func text(_ value: Value, _ limit: Int?) -> SQLiteValue? {
    let text: String
    switch value {
    case .text(let own): text = own
    case .date(let day): text = day.description
    case .dateTime(let instant): text = instant.description
    default: return nil
    }
    return text.unicodeScalars.count <= limit ?? .max ? .text(text) : nil
  }

  /// The geometry column in SQL, and the blob to bind.
  func geometry(_ geometry: Geometry?) throws(FieldpackError) -> (String, SQLiteValue) {
    guard let column = table.schema.geometry else {
      throw FieldpackError(
        .invalidData, "layer '\(table.layer.id)' has no geometry column",
        location: .init(store: file.store, layer: table.layer.id))
    }
    guard let geometry else { return (quoted(column.name), .null) }
    if let reason = column.refusal(of: geometry.type, geometry.dimensions) {
      throw FieldpackError(
        .invalidData, "layer '\(table.layer.id)' \(reason)",
        location: .init(store: file.store, layer: table.layer.id))
    }
    var blob: [UInt8] = []
    GeoPackageBinary.append(
      geometry, srsID: Int32(clamping: table.srsID ?? 0), to: &blob)
    return (quoted(column.name), .blob(blob))
  }

  /// Whether a blob holds exactly that geometry and has a correct header.
  func isSound(_ blob: [UInt8], holding geometry: Geometry) -> Bool {
    guard let header = try? GeoPackageBinary(blob.span.bytes), !header.isExtended,
      !header.hasReservedFlags, !header.hasUnusableEnvelope,
      header.srsID == Int32(clamping: table.srsID ?? 0),
      header.isFlaggedEmpty == geometry.isEmpty
    else { return false }
    let body = blob.span.bytes.extracting(droppingFirst: header.bodyOffset)
    guard let kind = try? WKB.header(of: body), !kind.isExtended,
      let stored = try? WKB.read(body)
    else { return false }
    if let stated = header.envelope {
      guard let own = geometry.envelope, stated.contains(own) else { return false }
    }
    // The bytes are compared, because ordinates may be NaN, which is not equal to itself.
    var bytes: (own: [UInt8], given: [UInt8]) = ([], [])
    WKB.write(stored, into: &bytes.own)
    WKB.write(geometry, into: &bytes.given)
    return bytes.own == bytes.given
  }
}

extension ColumnType {
  /// The SQL of a value of this type that is written as text; `nil` where the text is none.
  package func sqlLiteral(_ text: String) -> String? {
    switch Value.text(text).converted(to: self).flatMap({ FeatureEncoder.stored($0, in: self) }) {
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): literal(text)
    case .null, .blob, nil: nil
    }
  }
}

extension GeometryColumn {
  /// Why the column cannot hold geometries of a type and dimensions; `nil` where it can.
  func refusal(of type: GeometryType, _ dimensions: Dimensions) -> String? {
    if type != type.ofGeoPackage {
      "takes no \(type.name), which GeoPackage does not know. Try: \(type.ofGeoPackage.name)"
    } else if !self.type.accepts(type) {
      "takes \(self.type.name), the feature has \(type.name)"
    } else if z == .prohibited, dimensions.hasZ {
      "takes no z, the feature has one"
    } else if m == .prohibited, dimensions.hasM {
      "takes no m, the feature has one"
    } else if z == .mandatory, !dimensions.hasZ {
      "needs z, the feature has none"
    } else if m == .mandatory, !dimensions.hasM {
      "needs m, the feature has none"
    } else {
      nil
    }
  }
}

extension ColumnConstraint {
  /// The error for a value that is not allowed.
  func refusal(
    of value: Value, column: String, _ location: KeyTuple.Partial
  ) -> FieldpackError {
    let text = value.plainText
    let shown = text.count > 60 ? text.prefix(59) + "…" : text[...]
    let feature = location.feature.map { " of feature \($0)" } ?? ""
    return FieldpackError(
      .constraint,
      "column '\(column)' of layer '\(location.layer ?? "")' cannot hold the value '\(shown)'\(feature): "
        + "its constraint '\(name)' allows \(summary)",
      location: location)
  }
}

extension Value {
  /// The kind of the value, for messages. The value itself is never shown.
  var words: String {
    switch self {
    case .null: "NULL"
    case .boolean: "a truth value"
    case .integer: "this integer"
    case .real: "this number"
    case .text: "this text"
    case .blob: "this blob"
    case .date: "a date"
    case .dateTime: "an instant"
    }
  }
}
