import FieldpackCore
import FieldpackGeometry

/// Builds the rows of one layer in the shape asked for, and gathers the shape the file has.
final class GPXLayerBuilder {
  let kind: GPXLayerKind
  let layer: LayerID
  /// What the caller asked for; without it rows are not kept.
  let asked: Schema?
  let rows: RowBuffer
  var columns = GPXColumns()
  var capture = GPXExtensionCapture()
  private(set) var count = 0
  private var dimensionsSeen = DimensionsSeen()

  init(kind: GPXLayerKind, layer: LayerID, asked: Schema?) {
    self.kind = kind
    self.layer = layer
    self.asked = asked
    rows = RowBuffer(columnCount: asked?.columns.count ?? 0)
    columns.place(in: asked)
  }

  /// The layer as the file shows it, `nil` without features.
  var found: FileLayer? {
    guard count > 0 else { return nil }
    let geometry = GeometryColumn(
      type: kind.geometryType, srs: .wgs84, z: dimensionsSeen.z, m: dimensionsSeen.m)
    return FileLayer(
      schema: Schema(layer: layer, geometry: geometry, columns: columns.definitions))
  }

  // MARK: Values

  func set(_ field: GPXField, _ value: Int) {
    let index = field.rawValue
    columns.note(.integer, at: index)
    let place = columns.columns[index].place
    if place >= 0 { rows.set(place, Int64(value)) }
  }

  func set(_ field: GPXField, text: UnsafeBufferPointer<UInt8>) {
    set(field.rawValue, text)
  }

  /// Sets the `time` and returns it as UTC, as the schema reads one without a zone.
  func setTime(_ text: UnsafeBufferPointer<UInt8>) -> Instant? {
    set(GPXField.time.rawValue, text)
    return DateTimeParser.dateTime(trimmed(text))?.instant
  }

  /// Sets the column at `index` of ``columns``, unless it is set already or `text` is blank.
  func set(_ index: Int, _ text: UnsafeBufferPointer<UInt8>) {
    let inner = trimmed(text)
    guard !inner.isEmpty else { return }
    let column = columns.columns[index]
    let scalar = scalar(inner, column.kind)
    columns.note(scalar.trait, at: index)
    guard column.place >= 0, rows.isNull(column.place) else { return }
    switch (column.target, scalar) {
    case (.integer, .integer(let value)): rows.set(column.place, value)
    case (.real, .integer(let value)): rows.set(column.place, Double(value))
    case (.real, .real(let value)): rows.set(column.place, value)
    case (.dateTime, .dateTime(let value)):
      rows.setText(column.place) { InstantText.append(value, to: &$0) }
    case (.text, _): rows.set(column.place, column.kind == .text ? text : inner)
    default: break
    }
  }

  private func scalar(_ text: UnsafeBufferPointer<UInt8>, _ kind: GPXField.Kind?) -> Scalar {
    switch kind {
    case .text: return .text
    case .real: return NumberParser.double(text).map(Scalar.real) ?? .text
    case .integer:
      if let integer = NumberParser.integer(text) { return .integer(integer) }
      return NumberParser.double(text).map(Scalar.real) ?? .text
    case .time: return DateTimeParser.dateTime(text).flatMap { Scalar($0) } ?? .text
    case nil:
      switch Scalar(inferring: text) {
      case .boolean, .date: return .text
      case let scalar: return scalar
      }
    }
  }

  /// The column of an extension's leaf, added if need be.
  ///
  /// What we wrote ourselves goes back to the column of its name: `speed`, or a value that the
  /// schema does not allow.
  func extensionColumn(_ name: String, isOwn: Bool) -> Int? {
    if isOwn, let index = columns.columns.firstIndex(where: { $0.name == name }) { return index }
    return columns.addExtension(named: name, asked: asked)
  }

  // MARK: Rows

  func closePoint(x: Double, y: Double, z: Double?, m: Double?) {
    let dimensions = Dimensions(hasZ: z != nil, hasM: m != nil)
    let written = allowed(dimensions)
    var box = Envelope(minX: x, minY: y, maxX: x, maxY: y)
    if written.hasZ, let z { box.z = z...z }
    if written.hasM, let m { box.m = m...m }
    close(dimensions, box) { bytes in
      var writer = WKBWriter()
      swap(&writer.bytes, &bytes)
      writer.begin(.point, written)
      writer.position(x, y, z ?? .nan, m ?? .nan)
      writer.end(.point)
      swap(&writer.bytes, &bytes)
    }
  }

  func closePath(_ path: GPXPath) {
    guard path.count > 0 else {
      let dimensions = Dimensions(
        hasZ: asked?.geometry?.z == .mandatory, hasM: asked?.geometry?.m == .mandatory)
      close(nil, nil) {
        path.appendWKB(isMulti: kind == .tracks, dimensions, to: &$0)
      }
      return
    }
    let written = allowed(path.dimensions)
    var box = path.envelope
    if !written.hasZ { box.z = nil }
    if !written.hasM { box.m = nil }
    close(path.dimensions, box) {
      path.appendWKB(isMulti: kind == .tracks, written, to: &$0)
    }
  }

  private func allowed(_ dimensions: Dimensions) -> Dimensions {
    Dimensions(
      hasZ: dimensions.hasZ && asked?.geometry?.z != .prohibited,
      hasM: dimensions.hasM && asked?.geometry?.m != .prohibited)
  }

  private func close(
    _ dimensions: Dimensions?, _ box: Envelope?, _ geometry: (inout [UInt8]) -> Void
  ) {
    if let dimensions { dimensionsSeen.insert(dimensions) }
    capture.finish { set(GPXColumns.extensionsIndex, $0) }
    count += 1
    guard asked != nil else { return }
    rows.commit(id: .integer(Int64(count)), envelope: box, geometry: geometry)
  }
}

/// `text` without XML's white space at its ends.
func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
  var start = 0
  var end = text.count
  while start < end, isXMLSpace(text[start]) { start += 1 }
  while end > start, isXMLSpace(text[end - 1]) { end -= 1 }
  return UnsafeBufferPointer(rebasing: text[start..<end])
}

@inline(__always) func isXMLSpace(_ byte: UInt8) -> Bool {
  byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}
