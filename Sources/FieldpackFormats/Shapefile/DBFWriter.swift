import FieldpackCore
import FieldpackGeometry

/// Writes rows as a table of dBase III, in UTF-8.
///
/// The width of a column is that of its widest value, which is known at the end, so the values wait
/// in a temporary file.
struct DBFWriter {
  private struct Column {
    /// The index of the column in the layer, -1 for the feature id.
    var source: Int
    var name: String
    var letter: Character
    var width: Int
    var decimals: UInt8 = 0
  }

  /// The widest text, and how reals are declared, as GDAL does.
  static let widestText = 254
  private static let real = (width: 24, decimals: UInt8(15))
  private static let longestRow = 65_535

  private var columns: [Column] = []
  private let schema: Schema
  private let cutsTexts: Bool
  private(set) var notes: [String] = []
  private var emptyTexts = 0
  private var cutTexts = 0
  private(set) var rowCount = 0
  /// The values of the rows, each behind its length; blocks of whole rows are in the file.
  private var buffer: [UInt8] = []
  private let file = SpillFile()
  private var blocks: [Int] = []
  private var row: [UInt8] = []

  private static let block = 1 << 20
  private static let null = UInt16.max

  /// - Parameter cutsTexts: whether texts that are too long are cut; else they are an error.
  init(_ schema: Schema, cutsTexts: Bool) throws(FieldpackError) {
    self.schema = schema
    self.cutsTexts = cutsTexts
    var taken: Set<String> = []
    add(-1, schema.idColumn ?? "fid", .integer, &taken)
    for (index, column) in schema.columns.enumerated() {
      if case .blob = column.type {
        notes.append("column '\(column.name)' is left out: a table of dBase has no place for blobs")
      } else {
        add(index, column.name, column.type, &taken)
      }
    }
  }

  private mutating func add(
    _ source: Int, _ given: String, _ type: ColumnType, _ taken: inout Set<String>
  ) {
    let name = Self.name(given, &taken)
    if name != given { notes.append("column '\(given)' is named '\(name)'") }
    var column = Column(source: source, name: name, letter: "C", width: 1)
    switch type {
    case .boolean: column.letter = "L"
    case .tinyInt, .smallInt, .mediumInt: (column.letter, column.width) = ("N", 9)
    case .integer: (column.letter, column.width) = ("N", 18)
    case .float, .double:
      (column.letter, column.width, column.decimals) = ("N", Self.real.width, Self.real.decimals)
    case .date: (column.letter, column.width) = ("D", 8)
    default: break
    }
    columns.append(column)
  }

  /// The name in ten bytes of whole characters, unlike all others but for case.
  private static func name(_ given: String, _ taken: inout Set<String>) -> String {
    var number = 1
    while true {
      let suffix = number == 1 ? "" : "_\(number)"
      let name = cut(given, to: 10 - suffix.utf8.count) + suffix
      if taken.insert(name.lowercased()).inserted { return name }
      number += 1
    }
  }

  private static func cut(_ text: String, to length: Int) -> String {
    var kept = ""
    for character in text {
      guard kept.utf8.count + character.utf8.count <= length else { break }
      kept.append(character)
    }
    return kept
  }

  // MARK: Rows

  /// Takes the attributes of a feature; on an error nothing of it is kept.
  mutating func append(_ feature: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    row.removeAll(keepingCapacity: true)
    for index in columns.indices {
      let start = row.count
      row.append(little: Self.null)
      try appendValue(index, feature)
      let width = row.count - start - 2
      guard width > 0 else { continue }
      row[start] = UInt8(truncatingIfNeeded: width)
      row[start + 1] = UInt8(truncatingIfNeeded: width >> 8)
      columns[index].width = max(columns[index].width, width)
    }
    rowCount += 1
    buffer += row
    guard buffer.count >= Self.block else { return }
    try flush()
  }

  private mutating func flush() throws(FieldpackError) {
    var failure: FieldpackError?
    buffer.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try file.append(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
    blocks.append(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }

  private mutating func appendValue(
    _ index: Int, _ feature: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    let column = columns[index]
    guard column.source >= 0 else {
      switch feature.id {
      case .integer(let id): NumberText.append(id, to: &row)
      case .text(let id):
        columns[index].letter = "C"
        try append(text: Array(id.utf8), column)
      }
      return
    }
    switch (feature.kind(at: column.source), column.letter) {
    case (.null, _): return
    case (.integer, "L"):
      row.append(UInt8(ascii: feature.integer(at: column.source) == 0 ? "F" : "T"))
    case (.integer, "N"), (.integer, "C"):
      NumberText.append(feature.integer(at: column.source), to: &row)
    case (.real, "N"), (.real, "C"): try append(real: feature.real(at: column.source), column)
    case (.text, "C"):
      let text = feature.withBytes(at: column.source) { $0.withUnsafeBytes { Array($0) } }
      try append(text: text, column)
    case (.text, "D"):
      let text = feature.withBytes(at: column.source) { $0.withUnsafeBytes { Array($0) } }
      guard text.count == 10, CalendarDate(String(decoding: text, as: UTF8.self)) != nil else {
        throw misfit(column, "is no date")
      }
      row += text.filter { $0 != UInt8(ascii: "-") }
    default: throw misfit(column, "is not of the column's type")
    }
  }

  private func misfit(_ column: Column, _ what: String) -> FieldpackError {
    let name = column.source < 0 ? column.name : schema.columns[column.source].name
    return FieldpackError(.invalidData, "the value of column '\(name)' \(what)")
  }

  private mutating func append(real: Double, _ column: Column) throws(FieldpackError) {
    guard NumberText.append(real, to: &row) else {
      throw misfit(column, "is not finite, and dBase holds no such number")
    }
  }

  private mutating func append(text: [UInt8], _ column: Column) throws(FieldpackError) {
    if text.isEmpty { emptyTexts += 1 }
    guard text.count > Self.widestText else {
      row += text
      return
    }
    guard cutsTexts else {
      throw misfit(column, "has \(text.count) bytes, and dBase holds \(Self.widestText)")
    }
    cutTexts += 1
    row += Self.cut(String(decoding: text, as: UTF8.self), to: Self.widestText).utf8
  }

  // MARK: The file

  /// Writes the table.
  mutating func finish(to output: ByteOutput) throws(FieldpackError) {
    if emptyTexts > 0 {
      notes.append("empty texts are NULL in a table of dBase: \(emptyTexts) of them")
    }
    if cutTexts > 0 {
      notes.append("texts are cut to \(Self.widestText) bytes: \(cutTexts) of them")
    }
    let length = columns.reduce(1) { $0 + $1.width }
    guard length <= Self.longestRow, 33 + 32 * columns.count <= Self.longestRow else {
      throw FieldpackError(
        .unsupported, "the layer has more columns, or wider ones, than a table of dBase holds",
        location: .init(layer: schema.layer))
    }
    try ShapefileLimit.check(33 + 32 * columns.count + rowCount * length, schema.layer)
    output.buffer += header(rowLength: length)
    var offset = 0
    for block in blocks {
      var bytes = [UInt8](repeating: 0, count: block)
      var failure: FieldpackError?
      bytes.withUnsafeMutableBytes { bytes in
        do throws(FieldpackError) {
          try file.read(into: bytes, at: offset)
        } catch { failure = error }
      }
      if let failure { throw failure }
      offset += block
      try write(bytes, to: output)
    }
    try write(buffer, to: output)
    // The end of a file of CP/M, which dBase still has.
    output.buffer.append(0x1A)
  }

  private func header(rowLength: Int) -> [UInt8] {
    // The date of the last change is fixed, so that equal layers make equal files.
    var bytes: [UInt8] = [3, 95, 7, 26]
    bytes.append(little: UInt32(rowCount))
    bytes.append(little: UInt16(33 + 32 * columns.count))
    bytes.append(little: UInt16(rowLength))
    bytes += [UInt8](repeating: 0, count: 20)
    for column in columns {
      let name = Array(column.name.utf8)
      bytes += name + [UInt8](repeating: 0, count: 11 - name.count)
      bytes.append(column.letter.asciiValue ?? 0)
      bytes += [0, 0, 0, 0, UInt8(column.width), column.decimals]
      bytes += [UInt8](repeating: 0, count: 14)
    }
    bytes.append(0x0D)
    return bytes
  }

  /// Writes rows in the widths of the columns: numbers stand at the right.
  private func write(_ rows: [UInt8], to output: ByteOutput) throws(FieldpackError) {
    var next = 0
    while next < rows.count {
      output.buffer.append(0x20)
      for column in columns {
        let length = UInt16(rows[next]) | UInt16(rows[next + 1]) << 8
        next += 2
        guard length != Self.null else {
          output.buffer.append(contentsOf: repeatElement(Self.filler(column), count: column.width))
          continue
        }
        let value = rows[next..<next + Int(length)]
        next += Int(length)
        let padding = repeatElement(UInt8(0x20), count: column.width - value.count)
        if column.letter == "N" { output.buffer.append(contentsOf: padding) }
        output.buffer.append(contentsOf: value)
        if column.letter != "N" { output.buffer.append(contentsOf: padding) }
      }
      try output.flushIfFull()
    }
  }

  /// What stands for NULL.
  private static func filler(_ column: Column) -> UInt8 {
    switch column.letter {
    case "N": UInt8(ascii: "*")
    case "D": UInt8(ascii: "0")
    case "L": UInt8(ascii: "?")
    default: 0x20
    }
  }
}

/// The size that programs take for the most that a file of a shapefile may have.
enum ShapefileLimit {
  static let bytes = Int(Int32.max)

  static func check(_ size: Int, _ layer: LayerID) throws(FieldpackError) {
    guard size > bytes else { return }
    throw FieldpackError(
      .unsupported, "a shapefile holds 2 GiB, and the layer has more. Try: a GeoPackage",
      location: .init(layer: layer))
  }
}
