import FieldpackCore
import FieldpackGeometry

/// Builds the rows of one layer in the shape asked for, and gathers the shape the file has.
struct GPXLayerBuilder: ~Copyable {
  let kind: GPXLayerKind
  let layer: LayerID
  /// What the caller asked for; without it rows are not kept.
  let asked: Schema?
  private let keepsRows: Bool
  /// The ordinates that geometries may have.
  private let allowed: Dimensions
  private var rows: RowBuffer
  private(set) var columns = GPXColumns()
  private var capture = GPXExtensionCapture()
  private(set) var count = 0
  private var dimensionsSeen = DimensionsSeen()
  private var moments = MomentReader()

  init(kind: GPXLayerKind, layer: LayerID, asked: Schema?) {
    self.kind = kind
    self.layer = layer
    self.asked = asked
    keepsRows = asked != nil
    allowed = Dimensions(
      hasZ: asked?.geometry?.z != .prohibited, hasM: asked?.geometry?.m != .prohibited)
    rows = RowBuffer(columnCount: asked?.columns.count ?? 0)
    columns.locate(in: asked)
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

  mutating func set(_ field: GPXField, _ value: Int) {
    let index = field.rawValue
    columns.note(.integer, at: index)
    let rowColumn = columns.columns[index].rowColumn
    if rowColumn >= 0 { rows.set(rowColumn, Int64(value)) }
  }

  mutating func set(_ field: GPXField, real value: Double) { set(field.rawValue, .real(value)) }

  mutating func set(_ field: GPXField, time: Instant) {
    set(field.rawValue, InstantText.canWrite(time) ? .dateTime(time) : .text)
  }

  mutating func set(_ field: GPXField, string: String) {
    var string = string
    string.withUTF8 { set(field.rawValue, $0) }
  }

  /// The column of an attribute that GPX does not know; `nil` where there are too many.
  mutating func extra(_ name: String) -> Int? {
    columns.index(of: name) ?? columns.addExtension(named: name, asked: asked)
  }

  /// Sets a column that ``extra(_:)`` gave.
  mutating func set(extra index: Int?, _ scalar: InferredValue) {
    if let index { set(index, scalar) }
  }

  /// Sets a column that ``extra(_:)`` gave to what `text` looks like.
  mutating func set(extra index: Int?, text: UnsafeBufferPointer<UInt8>) {
    if let index { set(index, text) }
  }

  private mutating func set(_ index: Int, _ scalar: InferredValue) {
    var text =
      switch scalar {
      case .integer(let value): "\(value)"
      case .real(let value): "\(value)"
      case .dateTime(let value): value.description
      default: ""
      }
    text.withUTF8 { set(index, $0, $0, scalar) }
  }

  /// Sets the column of `field`, unless it is set already or `text` is blank.
  mutating func set(_ field: GPXField, text: UnsafeBufferPointer<UInt8>) {
    set(field.rawValue, text)
  }

  /// Sets a column that the schema has numbers in and returns the number.
  mutating func setNumber(_ field: GPXField, _ text: UnsafeBufferPointer<UInt8>) -> Double? {
    let inner = trimmed(text)
    let value = NumberParser.double(inner)
    set(field.rawValue, text, inner, value.map(InferredValue.real) ?? .text)
    return value
  }

  /// Sets the `time` and returns it as UTC, as the schema reads one without a zone.
  mutating func setTime(_ text: UnsafeBufferPointer<UInt8>) -> Instant? {
    let inner = trimmed(text)
    guard let moment = moments.read(inner) else {
      set(GPXField.time.rawValue, text, inner, .text)
      return nil
    }
    let column = columns.columns[GPXField.time.rawValue]
    if moment.isWholeSeconds, column.target == .dateTime {
      columns.note(.dateTime, at: GPXField.time.rawValue)
      setWholeSeconds(column.rowColumn, inner)
    } else {
      set(
        GPXField.time.rawValue, text, inner, moment.isDateTime ? .dateTime(moment.instant) : .text)
    }
    return moment.instant
  }

  /// GeoPackage's form of `YYYY-MM-DDTHH:MM:SSZ` is the text itself with a fraction.
  private mutating func setWholeSeconds(_ rowColumn: Int, _ text: UnsafeBufferPointer<UInt8>) {
    guard rowColumn >= 0, rows.isNull(rowColumn) else { return }
    rows.setText(rowColumn) { bytes in
      bytes.append(UnsafeBufferPointer(rebasing: text.dropLast()))
      for byte in ".000Z".utf8 { bytes.append(byte) }
    }
  }

  /// Sets the column at `index` of ``columns``.
  private mutating func set(_ index: Int, _ text: UnsafeBufferPointer<UInt8>) {
    let inner = trimmed(text)
    guard !inner.isEmpty else { return }
    set(index, text, inner, Self.scalar(inner, columns.columns[index].kind))
  }

  private mutating func set(
    _ index: Int, _ text: UnsafeBufferPointer<UInt8>, _ inner: UnsafeBufferPointer<UInt8>,
    _ scalar: InferredValue
  ) {
    guard !inner.isEmpty else { return }
    columns.note(scalar.trait, at: index)
    let column = columns.columns[index]
    guard column.rowColumn >= 0, rows.isNull(column.rowColumn) else { return }
    switch (column.target, scalar) {
    case (.integer, .integer(let value)): rows.set(column.rowColumn, value)
    case (.real, .integer(let value)): rows.set(column.rowColumn, Double(value))
    case (.real, .real(let value)): rows.set(column.rowColumn, value)
    case (.dateTime, .dateTime(let value)):
      rows.setText(column.rowColumn) { InstantText.append(value, to: &$0) }
    case (.text, _): rows.set(column.rowColumn, column.kind == .text ? text : inner)
    default: break
    }
  }

  private static func scalar(
    _ text: UnsafeBufferPointer<UInt8>, _ kind: GPXField.Kind?
  ) -> InferredValue {
    switch kind {
    case .text: return .text
    case .real: return NumberParser.double(text).map(InferredValue.real) ?? .text
    case .integer:
      if let integer = NumberParser.integer(text) { return .integer(integer) }
      return NumberParser.double(text).map(InferredValue.real) ?? .text
    case .time: return DateTimeParser.dateTime(text).flatMap { InferredValue($0) } ?? .text
    case nil:
      switch InferredValue(inferring: text) {
      case .boolean, .date: return .text
      case let scalar: return scalar
      }
    }
  }

  // MARK: Extensions

  mutating func startCaptured(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces
  ) {
    capture.start(name, attributes, namespaces)
  }

  mutating func captured(_ bytes: UnsafeBufferPointer<UInt8>) { capture.characters(bytes) }

  mutating func endCaptured(_ name: XMLName) {
    guard capture.end(name), let index = extensionColumn(of: name) else { return }
    let leaf = capture.leaf
    leaf.withUnsafeBufferPointer { text in
      // The value of a column that its element cannot have. The element beside it is the geometry's.
      if capture.isOwn, index < GPXColumns.extensionsIndex, !trimmed(text).isEmpty { unset(index) }
      set(index, text)
    }
  }

  private mutating func unset(_ index: Int) {
    let column = columns.columns[index].rowColumn
    if column >= 0 { rows.setNull(column) }
  }

  /// The column of an extension's leaf, added if need be.
  ///
  /// What we wrote ourselves goes back to the column of its name: `speed`, or a value that the
  /// schema does not allow.
  private mutating func extensionColumn(of name: XMLName) -> Int? {
    if let known = capture.column(of: name) { return known }
    let (columnName, isOwn) = capture.newColumn(of: name)
    let own = isOwn ? columns.index(of: columnName) : nil
    guard let index = own ?? columns.addExtension(named: columnName, asked: asked) else {
      return nil
    }
    capture.remember(index, for: name)
    return index
  }

  private mutating func finishExtensions() {
    guard capture.finish() else { return }
    let whole = capture.whole
    whole.withUnsafeBufferPointer { set(GPXColumns.extensionsIndex, $0) }
  }

  // MARK: Rows

  mutating func closePoint(x: Double, y: Double, z: Double?, m: Double?) {
    let dimensions = Dimensions(hasZ: z != nil, hasM: m != nil)
    close(dimensions)
    guard keepsRows else { return }
    let written = kept(dimensions)
    rows.commit(id: Int64(count), point: x, y, z ?? .nan, m ?? .nan, written)
  }

  mutating func closePath(_ path: borrowing GPXPath) {
    guard path.count > 0 else {
      close(nil)
      let dimensions = Dimensions(
        hasZ: asked?.geometry?.z == .mandatory, hasM: asked?.geometry?.m == .mandatory)
      commit(path, nil, dimensions)
      return
    }
    close(path.dimensions)
    let written = kept(path.dimensions)
    var box = path.envelope
    if !written.hasZ { box.z = nil }
    if !written.hasM { box.m = nil }
    commit(path, box, written)
  }

  private mutating func commit(
    _ path: borrowing GPXPath, _ box: Envelope?, _ dimensions: Dimensions
  ) {
    guard keepsRows else { return }
    rows.commit(id: Int64(count), envelope: box) {
      path.appendWKB(isMulti: kind == .tracks, dimensions, to: &$0)
    }
  }

  private func kept(_ dimensions: Dimensions) -> Dimensions {
    Dimensions(
      hasZ: dimensions.hasZ && allowed.hasZ, hasM: dimensions.hasM && allowed.hasM)
  }

  /// Counts a feature, whose row is still open.
  private mutating func close(_ dimensions: Dimensions?) {
    if let dimensions { dimensionsSeen.insert(dimensions) }
    finishExtensions()
    count += 1
  }

  /// Gives the rows to `sink` and forgets them; `announced` is the layer that it expects.
  mutating func drain(
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

@inline(__always) func isXMLSpace(_ byte: UInt8) -> Bool {
  byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}
