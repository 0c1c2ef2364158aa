public import FieldpackCore
public import FieldpackGeometry

/// Reads a shapefile as one layer, or a `.dbf` alone as a layer of attributes.
///
/// - The files beside the one that is named belong to it: `.shp` the shapes, `.shx` where they are,
///   `.dbf` the attributes, `.prj` the SRS, `.cpg` the encoding; their extensions in any case.
/// - A missing or damaged `.shx` or `.dbf` is an error that names it. Where errors are skipped,
///   shapes are read in the order of the `.shp`, and without attributes.
/// - Numbers without decimals are INTEGER, others REAL; a column with a value that is no number is
///   TEXT. `D` is DATE and `L` BOOLEAN. An empty field is NULL. Deleted rows are left out.
/// - Rings that run clockwise are polygons, the others holes in them. Measures below -10^38 are
///   none.
/// - A column `fid` of distinct integers gives the feature ids.
public struct ShapefileReader: FileReader {
  /// Finds the authority's code for a definition in WKT, and the definition's own name.
  public typealias Identify = @Sendable (_ wkt: String) -> (srs: SRS?, name: String?)

  private let input: ByteInput
  private let options: ReadOptions
  private let identify: Identify
  private let findFiles: (ByteInput) throws(FieldpackError) -> ShapefileSet
  private var opened: Opened?

  /// The files with what their heads say.
  private struct Opened {
    var files: ShapefileSet
    var shapes: ByteInput?
    var index: ByteInput?
    var kind: ShapeKind?
    var table: ByteInput?
    var header: DBFHeader?
    var srs = SRS.undefinedCartesian
    var notes: [Note] = []
  }

  /// The largest `.prj` and `.cpg` that are looked at.
  private static let longestText = 1 << 16

  public init(_ input: ByteInput, options: ReadOptions, identify: @escaping Identify) {
    self.init(input, options: options, identify: identify) { (input) throws(FieldpackError) in
      try ShapefileSet(around: input)
    }
  }

  /// - Parameter findFiles: gives the files, which may be packed in `input`.
  package init(
    _ input: ByteInput, options: ReadOptions, identify: @escaping Identify,
    findFiles: @escaping (ByteInput) throws(FieldpackError) -> ShapefileSet
  ) {
    self.input = input
    self.options = options
    self.identify = identify
    self.findFiles = findFiles
  }

  public mutating func assume() throws(FieldpackError) -> [FileLayer] {
    let opened = try open()
    var rows = try ShapefileRows(
      opened.header, opened.kind, srs: opened.srs, options: options, asked: nil)
    // Points without z and m are of one type.
    if let shapes = opened.shapes, opened.kind != .point {
      rows.seen = try ShapeSurvey(options).run(shapes, opened.index) {
        () throws(FieldpackError) in try options.progress?(0)
      }
    }
    let expectsRows = (opened.header?.rowCount ?? 0) > 0
    return [rows.found(expectsRows: expectsRows)]
  }

  public mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    let opened = try open()
    let asked = layers.first { $0.schema.layer == options.layer }
    for layer in layers { try sink.begin(layer.schema) }
    if let asked, layers.last != asked { try sink.begin(asked.schema) }
    var rows = try ShapefileRows(
      opened.header, opened.kind, srs: opened.srs, options: options, asked: asked)
    var result = FileReadResult(
      layers: [], skipped: SkippedFeatures(limit: options.skippedLimit), notes: opened.notes)
    if let shapes = opened.shapes {
      try readShapes(shapes, opened, &rows, &result, into: &sink)
    } else if let table = opened.table, let header = opened.header {
      try readTable(table, header, &rows, into: &sink)
    }
    try rows.rows.give(to: &sink)
    result.layers = [rows.found()]
    result.counts = [options.layer: rows.count]
    result.notes += rows.lastNotes(opened.header)
    return result
  }

  // MARK: Rows

  private func readShapes(
    _ shapes: ByteInput, _ opened: Opened, _ rows: inout ShapefileRows,
    _ result: inout FileReadResult, into sink: inout some FeatureSink
  ) throws(FieldpackError) {
    var cursor = try ShapeCursor(shapes, index: opened.index)
    var table = DBFCursor(opened.table, opened.header)
    var shape = ShapeRecord()
    while true {
      do throws(FieldpackError) {
        guard let content = try cursor.nextRecord() else { break }
        let row = try table?.row(cursor.record - 1)
        if let row, row[0] == DBFCursor.deleted { continue }
        try shape.read(content)
        try rows.take(shape, content, row)
      } catch {
        let error = cursor.located(error, in: options.layer)
        guard options.skipsErrors else { throw error }
        result.skipped.add(SkippedFeature(error, position: error.position))
        rows.rows.clear()
      }
      if rows.rows.isFull { try rows.rows.give(to: &sink) }
      if cursor.record & 0xFF == 0 { try options.progress?(min(cursor.offset, input.size)) }
    }
    try checkCounts(cursor.record, opened, &result)
  }

  private func readTable(
    _ table: ByteInput, _ header: DBFHeader, _ rows: inout ShapefileRows,
    into sink: inout some FeatureSink
  ) throws(FieldpackError) {
    guard var cursor = DBFCursor(table, header) else { return }
    let none = ShapeRecord()
    var number = 0
    while number < header.rowCount, let row = try cursor.row(number) {
      number += 1
      if row[0] != DBFCursor.deleted { try rows.take(none, nil, row) }
      if rows.rows.isFull { try rows.rows.give(to: &sink) }
      if number & 0xFF == 0 { try options.progress?(min(number * header.rowLength, input.size)) }
    }
  }

  /// Tells of rows of the table that no shape belongs to.
  private func checkCounts(
    _ count: Int, _ opened: Opened, _ result: inout FileReadResult
  ) throws(FieldpackError) {
    guard let header = opened.header, let table = opened.table, header.rowCount != count else {
      return
    }
    let message = "the table has \(header.rowCount) rows, and there are \(count) shapes"
    guard options.skipsErrors else {
      throw FieldpackError(
        .invalidData, message, advice: .skipErrors, position: FilePosition(file: table.name))
    }
    result.notes.append("\(table.name): \(message)")
  }

  // MARK: Opening

  private mutating func open() throws(FieldpackError) -> Opened {
    if let opened { return opened }
    let files = try findFiles(input)
    var made = Opened(files: files, shapes: files[.shapes])
    if let shapes = made.shapes {
      made.kind = try ShapefileHeader(shapes).kind
      made.index = try index(of: &made)
    }
    try openTable(&made)
    if made.shapes != nil { try findSRS(&made) }
    opened = made
    return made
  }

  /// The index, or none where errors are skipped and it is of no use.
  private func index(of opened: inout Opened) throws(FieldpackError) -> ByteInput? {
    let name = opened.files.name(.index)
    do throws(FieldpackError) {
      guard let index = opened.files[.index] else {
        throw FieldpackError(
          .notFound, "the file is missing: it tells where the shapes are", advice: .skipErrors,
          position: FilePosition(file: name))
      }
      _ = try ShapeCursor(index, index: index)
      return index
    } catch {
      guard options.skipsErrors else { throw error }
      opened.notes.append(
        "\(name): \(error.message). The shapes are read in the order of the .shp")
      return nil
    }
  }

  private func openTable(_ opened: inout Opened) throws(FieldpackError) {
    let name = opened.files.name(.table)
    do throws(FieldpackError) {
      guard let table = opened.files[.table] else {
        throw FieldpackError(
          .notFound, "the file is missing: it holds the attributes", advice: .skipErrors,
          position: FilePosition(file: name))
      }
      let header = try DBFHeader(table, codePage: text(opened.files[.codePage]))
      let present = header.rowsPresent(table)
      guard present >= header.rowCount || options.skipsErrors else {
        throw FieldpackError(
          .invalidData,
          "the table says it has \(header.rowCount) rows, and the file ends after \(present)",
          advice: .skipErrors, position: FilePosition(file: name))
      }
      if present < header.rowCount {
        opened.notes.append("\(name): the table ends after \(present) of \(header.rowCount) rows")
      }
      (opened.table, opened.header) = (table, header)
    } catch {
      guard options.skipsErrors, opened.shapes != nil else { throw error }
      opened.notes.append("\(name): \(error.message). The shapes are read without attributes")
    }
  }

  private func text(_ input: ByteInput?) throws(FieldpackError) -> String? {
    guard let input else { return nil }
    let bytes = try input.head(min(input.size, Self.longestText))
    return String(decoding: bytes, as: UTF8.self).trimmingBlanks
  }

  private func findSRS(_ opened: inout Opened) throws(FieldpackError) {
    let wkt = try text(opened.files[.projection])
    let found = wkt.map(identify)
    if let given = options.sourceSRS {
      opened.srs = given
      if let own = found?.srs, own != given {
        opened.notes.append("the .prj says \(own); the coordinates are taken to be in \(given)")
      }
    } else if let own = found?.srs {
      opened.srs = own
    } else if let name = found?.name {
      opened.notes.append(
        Note(
          "the .prj defines the system '\(name)', for which PROJ has no code, so the layer has none",
          advice: .nameSourceSRS))
    } else if found != nil {
      opened.notes.append(
        Note("the .prj defines no reference system that PROJ can read", advice: .nameSourceSRS))
    } else {
      opened.notes.append(
        Note("the file does not say its reference system", advice: .nameSourceSRS))
    }
  }
}

/// Lends the rows of a table.
struct DBFCursor: ~Copyable {
  private var window: FileWindow
  private let header: DBFHeader
  /// What a row begins with that is deleted.
  static let deleted = UInt8(ascii: "*")

  init?(_ input: ByteInput?, _ header: DBFHeader?) {
    guard let input, let header else { return nil }
    window = FileWindow(input)
    self.header = header
  }

  /// The bytes of a row, good until the next; `nil` where the table has no such row.
  mutating func row(_ number: Int) throws(FieldpackError) -> UnsafeRawBufferPointer? {
    guard number < header.rowCount else { return nil }
    return try window.bytes(
      at: header.headerLength + number * header.rowLength, count: header.rowLength)
  }
}

extension String {
  /// The text without white space and zero bytes at its ends.
  fileprivate var trimmingBlanks: String {
    func isBlank(_ character: Character) -> Bool { character.isWhitespace || character == "\0" }
    let start = drop(while: isBlank)
    let end = start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.startIndex
    return String(start[..<end])
  }
}
