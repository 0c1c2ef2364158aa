import FieldpackCore
import FieldpackGeometry

/// Builds the rows of a CSV file in the shape asked for, and gathers the shape the file has.
struct CSVLayerBuilder: ~Copyable {
  private struct Column {
    var field: Int
    var name: String
    var seen: ScalarTraits = []
    /// The column in the row, -1 where the row has none.
    var rowColumn = -1
    var type = ColumnType.text()
  }

  private let header: CSVHeader
  private let layer: LayerID
  private let asked: FileLayer?
  private var columns: [Column]
  private(set) var geometry: CSVGeometry
  private var ids = DistinctIntegers()
  private var hasUsableIDs: Bool
  var rows: RowBuffer
  private(set) var count = 0

  init(_ header: CSVHeader, options: ReadOptions, asked: FileLayer?) {
    self.header = header
    layer = options.layer
    self.asked = asked
    geometry = CSVGeometry(header, sourceSRS: options.sourceSRS)
    hasUsableIDs = header.idField != nil
    rows = RowBuffer(columnCount: asked?.schema.columns.count ?? 0)
    columns = header.columns.map { Column(field: $0.field, name: $0.name) }
    for index in columns.indices {
      guard
        let rowColumn = asked?.schema.columns.firstIndex(where: { $0.name == columns[index].name })
      else { continue }
      columns[index].rowColumn = rowColumn
      columns[index].type = asked?.schema.columns[rowColumn].type ?? .text()
    }
  }

  private var usesIDs: Bool { hasUsableIDs && (count > 0 || header.isIDRequired) }

  /// The layer as the rows so far ask for it.
  var found: FileLayer {
    let definitions = columns.filter { !usesIDs || $0.field != header.idField }.map { column in
      var definition = ColumnDefinition(
        column.name, column.seen.isEmpty ? .text() : column.seen.type)
      if column.field == header.idField, column.name == "id" {
        definition.type = .text()
        definition.isSourceID = true
      }
      return definition
    }
    return FileLayer(
      schema: Schema(layer: layer, geometry: geometry.column, columns: definitions),
      ids: usesIDs ? .file : .ordinal)
  }

  /// The renaming of the ids' column, where it came to be one.
  var note: String? {
    guard !usesIDs, let column = columns.first(where: { $0.field == header.idField }),
      column.name != "id"
    else { return nil }
    return "column 'fid' does not hold distinct integers and is named '\(column.name)'"
  }

  /// Takes the scanner's record; `rows` then holds it, unless its id cannot be given as asked.
  mutating func take(_ scanner: CSVScanner) throws(FieldpackError) {
    if let problem = scanner.problem { throw FieldpackError(.invalidData, problem) }
    guard scanner.fields.count == header.fieldCount else {
      throw FieldpackError(
        .invalidData,
        "the row has \(scanner.fields.count) fields where the header has \(header.fieldCount)")
    }
    let id = try readID(scanner)
    try geometry.read(scanner)
    count += 1
    for index in columns.indices { read(index, scanner) }
    guard asked != nil else { return }
    guard asked?.ids == .ordinal || id != nil else {
      rows.clear()
      return
    }
    let number = asked?.ids == .file ? id : nil
    rows.commit(id: number ?? Int64(count), envelope: geometry.envelope) {
      geometry.append(for: asked?.schema.geometry, to: &$0)
    }
  }

  /// The row's id, `nil` where it is no distinct integer.
  private mutating func readID(_ scanner: CSVScanner) throws(FieldpackError) -> Int64? {
    guard let field = header.idField, hasUsableIDs else { return nil }
    let range = scanner.trimmedRange(field)
    let value = scanner.text.withUnsafeBufferPointer {
      NumberParser.canonicalInteger(UnsafeBufferPointer(rebasing: $0[range]))
    }
    if let value, ids.insert(value) { return value }
    guard header.isIDRequired else {
      hasUsableIDs = false
      return nil
    }
    let shown = String(decoding: scanner.text[range].prefix(40), as: UTF8.self)
    throw FieldpackError(
      .invalidData,
      value == nil ? "the id '\(shown)' is not an integer" : "the id \(shown) is there twice")
  }

  private mutating func read(_ index: Int, _ scanner: CSVScanner) {
    let field = scanner.fields[columns[index].field]
    let inner = scanner.trimmedRange(columns[index].field)
    guard !inner.isEmpty || field.isQuoted else { return }
    scanner.text.withUnsafeBufferPointer { text in
      let scalar = InferredValue(inferring: UnsafeBufferPointer(rebasing: text[inner]))
      columns[index].seen.insert(scalar.trait)
      set(columns[index], scalar, UnsafeBufferPointer(rebasing: text[field.range]))
    }
  }

  private mutating func set(
    _ column: Column, _ scalar: InferredValue, _ text: UnsafeBufferPointer<UInt8>
  ) {
    guard column.rowColumn >= 0 else { return }
    switch (column.type, scalar) {
    case (.integer, .integer(let value)): rows.set(column.rowColumn, value)
    case (.double, .integer(let value)): rows.set(column.rowColumn, Double(value))
    case (.double, .real(let value)): rows.set(column.rowColumn, value)
    case (.boolean, .boolean(let value)): rows.set(column.rowColumn, Int64(value ? 1 : 0))
    case (.date, .date): rows.set(column.rowColumn, trimmed(text))
    case (.dateTime, .dateTime(let value)):
      rows.setText(column.rowColumn) { value.append(to: &$0) }
    case (.text, _): rows.set(column.rowColumn, text)
    default: break
    }
  }
}
