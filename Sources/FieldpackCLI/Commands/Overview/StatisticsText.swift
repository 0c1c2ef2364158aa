import FieldpackCore
import FieldpackGeometry

/// What `info --stats` prints of a layer for people.
struct StatisticsText {
  let statistics: LayerStatistics
  let width: Int
  let usesUnicode: Bool

  var text: String {
    guard !statistics.columns.isEmpty else { return "\n" + facts }
    var text = "\n" + facts + "\n" + columns
    let frequent = frequentValues
    if !frequent.isEmpty { text += "\n" + frequent }
    let notes = mixtures
    return notes.isEmpty ? text : text + "\n" + notes
  }

  private var facts: String {
    var facts = [("counted", "\(statistics.count) " + (statistics.count == 1 ? "row" : "rows"))]
    if let geometry = statistics.geometry {
      facts.append(("geometries", Self.contents(geometry)))
      if let envelope = geometry.envelope { facts.append(("within", InfoText.box(envelope))) }
    }
    return facts.map { DisplayText.pad($0.0, to: 12) + $0.1 + "\n" }.joined()
  }

  private static func contents(_ geometry: GeometryStatistics) -> String {
    var parts = geometry.types.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.value) \($0.key.name)" }
    if geometry.damagedCount > 0 { parts.append("\(geometry.damagedCount) damaged") }
    if geometry.nullCount > 0 { parts.append("\(geometry.nullCount) null") }
    let list = parts.isEmpty ? "none" : parts.joined(separator: ", ")
    return geometry.emptyCount == 0 ? list : "\(list); \(geometry.emptyCount) of them empty"
  }

  private var columns: String {
    let titles = [
      TableColumn("column"), TableColumn("nulls", isNumeric: true),
      TableColumn("distinct", isNumeric: true), TableColumn("least"), TableColumn("greatest"),
      TableColumn("mean", isNumeric: true),
    ]
    let rows = statistics.columns.map { column in
      [
        column.column, "\(column.nullCount)",
        (column.distinctIsEstimated ? "~" : "") + "\(column.distinctCount)",
        Self.end(column.least, column.blobLengths?.lowerBound),
        Self.end(column.greatest, column.blobLengths?.upperBound),
        column.mean.map(Self.mean) ?? "",
      ]
    }
    return TextTable.text(titles, rows, width: width, usesUnicode: usesUnicode)
  }

  /// The least or greatest value; of blobs alone their length.
  private static func end(_ value: Value?, _ length: Int?) -> String {
    value?.shownText ?? length.map { "\($0) bytes" } ?? ""
  }

  private static func mean(_ mean: Double) -> String {
    abs(mean) >= 1e-3 || mean == 0 ? Decimals.short(mean) : "\(mean)"
  }

  private var frequentValues: String {
    let rows = statistics.columns.filter { !$0.mostFrequent.isEmpty }.map { column in
      [
        column.column,
        column.mostFrequent.map { "\($0.value.shownText) (\($0.count))" }.joined(separator: ", "),
      ]
    }
    guard !rows.isEmpty else { return "" }
    return TextTable.text(
      [TableColumn("column"), TableColumn("most frequent values")], rows, width: width,
      usesUnicode: usesUnicode)
  }

  /// What is said of columns with values of several kinds.
  private var mixtures: String {
    statistics.columns.filter { $0.kinds.count > 1 }.map { column in
      let kinds = column.kinds.sorted { $0.key.rawValue < $1.key.rawValue }
        .map { "\($0.value) \($0.key.name)" + ($0.value == 1 ? "" : "s") }
      return DisplayText.visible("column '\(column.column)' holds \(kinds.andList)") + "\n"
    }.joined()
  }
}

extension Value {
  fileprivate var shownText: String {
    guard case .boolean(let flag) = self else { return plainText }
    return flag ? "true" : "false"
  }
}

extension ValueKind {
  var name: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .real: "real"
    case .text: "text"
    case .blob: "blob"
    }
  }
}

extension [String] {
  /// `a, b and c`
  fileprivate var andList: String {
    count < 2 ? joined() : dropLast().joined(separator: ", ") + " and " + self[count - 1]
  }
}
