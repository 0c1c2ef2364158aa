import FieldpackCore
import FieldpackGeometry

/// Builds the rows of one folder in the shape asked for, and gathers the shape the file has.
final class KMLLayerBuilder {
  let layer: LayerID
  /// The number of the folder in the file, counted as their start tags come.
  let number: Int
  /// Whether rows and columns of the layer are asked for at all.
  let isWanted: Bool
  private let asked: Schema?
  private let allowed: Dimensions
  private var rows: RowBuffer
  private var columns: KMLColumns
  private(set) var count = 0
  private var type: GeometryType?
  private var hasGeometry = false
  private var dimensionsSeen = DimensionsSeen()

  init(layer: LayerID, number: Int, isWanted: Bool, asked: Schema?) {
    self.layer = layer
    self.number = number
    self.isWanted = isWanted
    self.asked = asked
    allowed = Dimensions(
      hasZ: asked?.geometry?.z != .prohibited, hasM: asked?.geometry?.m != .prohibited)
    rows = RowBuffer(columnCount: asked?.columns.count ?? 0)
    columns = KMLColumns(asked: asked)
  }

  /// The layer as the file shows it; `nil` without features.
  var found: FileLayer? {
    guard count > 0, isWanted else { return nil }
    let geometry = GeometryColumn(
      type: type ?? .geometry, srs: .wgs84, z: dimensionsSeen.z, m: dimensionsSeen.m)
    return FileLayer(
      schema: Schema(layer: layer, geometry: geometry, columns: columns.definitions))
  }

  var notes: [String] { columns.notes }

  // MARK: Values

  func set(_ field: KMLField, _ text: UnsafeBufferPointer<UInt8>) { set(field.rawValue, text) }

  func set(_ field: KMLField, _ text: String) {
    var text = text
    text.withUTF8 { set(field.rawValue, $0) }
  }

  func set(_ field: KMLField, _ value: Double) {
    columns.note(.real, at: field.rawValue)
    let column = columns.columns[field.rawValue].rowColumn
    if column >= 0 { rows.set(column, value) }
  }

  /// Sets the column of extended data of this name.
  func set(extra name: String, _ kind: KMLField.Kind, _ text: UnsafeBufferPointer<UInt8>) {
    if let index = columns.extra(name, kind) { set(index, text) }
  }

  /// Sets a column, unless it is set already or `text` is blank.
  private func set(_ index: Int, _ text: UnsafeBufferPointer<UInt8>) {
    let inner = trimmed(text)
    guard !inner.isEmpty else { return }
    let column = columns.columns[index]
    let scalar = Self.scalar(inner, column.kind)
    columns.note(scalar.trait, at: index)
    guard column.rowColumn >= 0, rows.isNull(column.rowColumn) else { return }
    switch (column.type, scalar) {
    case (.integer, .integer(let value)): rows.set(column.rowColumn, value)
    case (.double, .integer(let value)): rows.set(column.rowColumn, Double(value))
    case (.double, .real(let value)): rows.set(column.rowColumn, value)
    case (.boolean, .boolean(let value)): rows.set(column.rowColumn, Int64(value ? 1 : 0))
    case (.date, .date): rows.set(column.rowColumn, inner)
    case (.dateTime, .dateTime(let value)):
      rows.setText(column.rowColumn) { InstantText.append(value, to: &$0) }
    case (.text, _): rows.set(column.rowColumn, inner)
    default: break
    }
  }

  private static func scalar(
    _ text: UnsafeBufferPointer<UInt8>, _ kind: KMLField.Kind
  ) -> InferredValue {
    switch kind {
    case .text: return .text
    case .integer:
      if let flag = boolean(text) { return .integer(flag ? 1 : 0) }
      if let integer = NumberParser.integer(text) { return .integer(integer) }
      return NumberParser.double(text).map(InferredValue.real) ?? .text
    case .real: return NumberParser.double(text).map(InferredValue.real) ?? .text
    case .boolean: return boolean(text).map(InferredValue.boolean) ?? .text
    case .time:
      if text.count == 10, DateTimeParser.date(text) != nil { return .date }
      return DateTimeParser.dateTime(text).flatMap { InferredValue($0) } ?? .text
    }
  }

  /// A boolean of XML Schema.
  private static func boolean(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
    for (word, value) in [("1", true), ("0", false), ("true", true), ("false", false)]
    where text.elementsEqual(word.utf8) {
      return value
    }
    return nil
  }

  // MARK: Rows

  /// Closes the row with the geometry.
  func close(_ shape: borrowing KMLShape) {
    count += 1
    guard let shapeType = shape.type else {
      if asked != nil { rows.commit(id: Int64(count), envelope: nil) { _ in } }
      return
    }
    let dimensions = shape.dimensions
    dimensionsSeen.insert(dimensions)
    type = type.map { GeometryType.holding($0, shapeType) } ?? shapeType
    guard let asked = asked?.geometry else {
      if asked != nil { rows.commit(id: Int64(count), envelope: nil) { _ in } }
      return
    }
    let isPromoted = asked.type == shapeType.multi
    guard isPromoted || asked.type == shapeType || asked.type == .geometry else {
      return rows.commit(id: Int64(count), envelope: nil) { _ in }
    }
    let kept = Dimensions(
      hasZ: dimensions.hasZ && allowed.hasZ, hasM: dimensions.hasM && allowed.hasM)
    if let point = shape.point, !isPromoted {
      let z = point.z.isNaN ? 0 : point.z
      return rows.commit(id: Int64(count), point: point.x, point.y, z, point.w, kept)
    }
    rows.commit(id: Int64(count), envelope: shape.envelope(kept)) {
      shape.appendWKB(kept, isPromoted: isPromoted, to: &$0)
    }
  }

  /// Forgets the values of a feature that is refused.
  func clear() { rows.clear() }

  /// Gives the rows to `sink` and forgets them; `announced` is the layer that it expects.
  func drain(
    _ announced: inout LayerID?, into sink: inout some FeatureSink
  ) throws(FieldpackError) {
    guard rows.count > 0, let schema = asked else { return }
    if announced != schema.layer {
      try sink.begin(schema)
      announced = schema.layer
    }
    try rows.give(to: &sink)
  }
}
