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
  private var form: CSVFieldForm
  var rows: RowBuffer
  private(set) var count = 0
  /// Rows without any value, which are left out.
  private(set) var blankCount = 0

  init(_ header: CSVHeader, form: CSVFieldForm, options: ReadOptions, asked: FileLayer?) {
    self.header = header
    self.form = form
    layer = options.layer
    self.asked = asked
    geometry = CSVGeometry(header, form: form, sourceSRS: options.sourceSRS)
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

  /// The layer as the rows so far ask for it.
  var found: FileLayer {
    let definitions = columns.map { column in
      ColumnDefinition(column.name, column.seen.isEmpty ? .text() : column.seen.type)
    }
    return FileLayer(
      schema: Schema(
        layer: layer, idColumn: header.idColumn, geometry: geometry.column, columns: definitions),
      ids: header.idField == nil ? .ordinal : .file)
  }

  /// What the user should know of the rows.
  var notes: [Note] {
    var notes: [Note] = []
    if blankCount > 0 {
      notes.append(
        blankCount == 1
          ? "a row without any value is left out"
          : "\(blankCount) rows without any value are left out")
    }
    if let note = geometry.note { notes.append(Note(note)) }
    if geometry.lacksSRS {
      notes.append(Note("the file does not say its reference system", advice: .nameSourceSRS))
    }
    return notes
  }

  /// Takes the scanner's record; `rows` then holds it, unless it is blank.
  mutating func take(_ scanner: CSVScanner) throws(FieldpackError) {
    if let problem = scanner.problem {
      throw FieldpackError(.invalidData, problem, advice: scanner.advice)
    }
    guard !scanner.isBlank else {
      blankCount += 1
      return
    }
    guard scanner.fields.count == header.fieldCount || hasDelimiterAtEnd(scanner) else {
      throw FieldpackError(
        .invalidData,
        "the row has \(scanner.fields.count) fields where the header has \(header.fieldCount)")
    }
    let id = try readID(scanner)
    try geometry.read(scanner)
    count += 1
    if form.isUsual {
      for index in columns.indices { read(index, scanner) }
    } else {
      for index in columns.indices { readForm(index, scanner) }
    }
    guard asked != nil else { return }
    let number = asked?.ids == .file ? id : nil
    rows.commit(id: number ?? Int64(count), envelope: geometry.envelope) {
      geometry.append(for: asked?.schema.geometry, to: &$0)
    }
  }

  /// Whether the row's fields are those of the header but for a delimiter at the end.
  private func hasDelimiterAtEnd(_ scanner: CSVScanner) -> Bool {
    guard scanner.fields.count == header.fieldCount + 1, let last = scanner.fields.last else {
      return false
    }
    return last.range.isEmpty && !last.isQuoted
  }

  /// The row's id, `nil` where no column has ids.
  private mutating func readID(_ scanner: CSVScanner) throws(FieldpackError) -> Int64? {
    guard let field = header.idField else { return nil }
    let range = scanner.trimmedRange(field)
    let value = scanner.text.withUnsafeBufferPointer {
      NumberParser.canonicalInteger(UnsafeBufferPointer(rebasing: $0[range]))
    }
    if let value, ids.insert(value) { return value }
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

  /// Reads a field that may have another form than usual. A text column gets it as it is.
  private mutating func readForm(_ index: Int, _ scanner: CSVScanner) {
    let field = scanner.fields[columns[index].field]
    let inner = scanner.trimmedRange(columns[index].field)
    guard !inner.isEmpty || field.isQuoted else { return }
    scanner.text.withUnsafeBufferPointer { text in
      let scalar = form.infer(UnsafeBufferPointer(rebasing: text[inner]))
      columns[index].seen.insert(scalar.trait)
      guard columns[index].type == .date else {
        return set(columns[index], scalar, UnsafeBufferPointer(rebasing: text[field.range]))
      }
      let usual = form.usual
      usual.withUnsafeBufferPointer { set(columns[index], scalar, $0) }
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
      rows.setText(column.rowColumn) { InstantText.append(value, to: &$0) }
    case (.text, _): rows.set(column.rowColumn, text)
    default: break
    }
  }
}
