import FieldpackCore
import FieldpackGeometry
import FieldpackSQL

/// How rows look.
enum RowFormat: String, CaseIterable, Sendable {
  case table, csv
}

extension OptionReader {
  mutating func rowFormat() -> RowFormat? {
    value("format", .choice("format"), shownDefault: "table", help: "How rows are printed.")
  }
}

/// Rows of SQL on their way out.
struct SQLOutput {
  private enum Shape {
    case table(TextTable)
    case csv
    case json
  }

  private let output: ByteOutput
  private let terminal: Terminal
  private var shape: Shape
  private var hasBegun = false
  private var count = 0

  /// The output that the options ask for.
  static func rows(_ invocation: Invocation, _ format: RowFormat?) -> SQLOutput {
    let shape: Shape =
      if invocation.isJSON {
        .json
      } else if format == .csv {
        .csv
      } else {
        .table(TextTable([], width: nil))
      }
    return SQLOutput(
      output: invocation.output, terminal: invocation.console.terminal, shape: shape)
  }

  /// Rows as CSV, to a file.
  init(csv output: ByteOutput) {
    self.init(output: output, terminal: Terminal(), shape: .csv)
  }

  private init(output: ByteOutput, terminal: Terminal, shape: Shape) {
    self.output = output
    self.terminal = terminal
    self.shape = shape
  }

  /// Takes the columns, with rows that show which of them hold numbers; later calls change nothing.
  mutating func begin(_ columns: [String], sample: [[Value]]) throws(FieldpackError) {
    guard !hasBegun else { return }
    hasBegun = true
    switch shape {
    case .table:
      shape = .table(
        TextTable(
          columns.enumerated().map { index, name in
            TableColumn(name, isNumeric: Self.isNumeric(index, sample))
          }, width: terminal.cutWidth,
          usesUnicode: terminal.usesUnicode, sampleSize: 100))
    case .csv: appendCSV(columns)
    case .json:
      output.buffer += "{\"columns\":".utf8
      JSONValue(columns).append(to: &output.buffer)
      output.buffer += ",\"rows\":[".utf8
    }
  }

  private static func isNumeric(_ column: Int, _ rows: [[Value]]) -> Bool {
    let values = rows.prefix(100).map { $0[column] }.filter { !$0.isNull }
    return !values.isEmpty
      && values.allSatisfy { value in
        switch value {
        case .integer, .real: true
        default: false
        }
      }
  }

  mutating func add(_ row: [Value]) throws(FieldpackError) {
    switch shape {
    case .table(var table):
      table.add(row.map { $0.sqlText(isWhole: false) ?? "NULL" }, to: &output.buffer)
      shape = .table(table)
    case .csv: appendCSV(row.map { $0.sqlText(isWhole: true) ?? "" })
    case .json:
      if count > 0 { output.buffer.append(UInt8(ascii: ",")) }
      JSONValue.array(row.map { JSONValue(sql: $0) }).append(to: &output.buffer)
    }
    count += 1
    try output.flushIfFull()
  }

  mutating func finish() throws(FieldpackError) {
    switch shape {
    case .table(var table): table.finish(to: &output.buffer)
    case .csv: break
    case .json: output.buffer += "],\"row_count\":\(count)}\n".utf8
    }
  }

  private func appendCSV(_ cells: [String]) {
    for (index, cell) in cells.enumerated() {
      if index > 0 { output.buffer.append(UInt8(ascii: ",")) }
      let isPlain = cell.utf8.allSatisfy { !"\",\r\n".utf8.contains($0) }
      output.buffer += (isPlain ? cell : "\"\(cell.replacing("\"", with: "\"\""))\"").utf8
    }
    output.buffer += "\r\n".utf8
  }

  /// What a script did, statement by statement.
  static func document(_ outcomes: [SQLOutcome]) -> JSONValue {
    [
      "statements": .array(
        outcomes.map { outcome in
          [
            "columns": JSONValue(outcome.columns),
            "rows": .array(outcome.rows.map { .array($0.map { JSONValue(sql: $0) }) }),
            "change_count": JSONValue(outcome.changes),
          ]
        })
    ]
  }
}

extension Value {
  /// The value as text: geometries as WKT, other blobs in hexadecimal; `nil` for NULL.
  ///
  /// - Parameter isWhole: writes all of a blob; else WKT is cut to 60 characters, and of other
  ///   blobs the first 16 bytes stand with their number.
  func sqlText(isWhole: Bool) -> String? {
    switch self {
    case .null: return nil
    case .blob(let bytes):
      if let wkt = Self.wkt(of: bytes) { return isWhole ? wkt : DisplayText.cut(wkt, to: 60) }
      if isWhole || bytes.count <= 16 { return "x'\(String(hex: bytes))'" }
      return "x'\(String(hex: bytes.prefix(16)))…' (\(bytes.count) bytes)"
    case .real(let number): return number.isFinite ? JSONValue.real(number).text : "\(number)"
    case .integer(let number): return "\(number)"
    case .boolean(let flag): return flag ? "1" : "0"
    case .text(let text): return text
    case .date(let day): return day.description
    case .dateTime(let instant): return instant.description
    }
  }

  private static func wkt(of blob: [UInt8]) -> String? {
    guard blob.starts(with: [UInt8(ascii: "G"), UInt8(ascii: "P")]),
      let geometry = try? GeoPackageBinary.read(blob.span.bytes)
    else { return nil }
    return WKT.text(of: geometry)
  }
}

extension JSONValue {
  /// A value of SQL; blobs are texts as in a table, whole.
  init(sql value: FieldpackCore.Value) {
    self =
      switch value {
      case .null: .null
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      default: value.sqlText(isWhole: true).map { .text($0) } ?? .null
      }
  }
}
