import FieldpackCore
import FieldpackGeometry

extension JSONValue {
  init(_ statistics: LayerStatistics?) {
    guard let statistics else {
      self = nil
      return
    }
    self = [
      "count": JSONValue(statistics.count),
      "geometry": statistics.geometry.map { JSONValue($0) } ?? nil,
      "columns": .array(statistics.columns.map { JSONValue($0) }),
    ]
  }

  private init(_ geometry: GeometryStatistics) {
    let types = geometry.types.sorted { $0.key.rawValue < $1.key.rawValue }
    self = [
      "column": .text(geometry.column), "null_count": JSONValue(geometry.nullCount),
      "empty_count": JSONValue(geometry.emptyCount),
      "damaged_count": JSONValue(geometry.damagedCount),
      "types": .array(
        types.map { ["geometry_type": .text($0.key.name), "count": JSONValue($0.value)] }),
      "envelope": JSONValue(geometry.envelope),
    ]
  }

  private init(_ column: ColumnStatistics) {
    let kinds = column.kinds.sorted { $0.key.rawValue < $1.key.rawValue }
    let lengths = column.blobLengths
    self = [
      "column": .text(column.column), "null_count": JSONValue(column.nullCount),
      "kinds": .array(kinds.map { ["kind": .text($0.key.name), "count": JSONValue($0.value)] }),
      "distinct_count": JSONValue(column.distinctCount),
      "distinct_is_estimated": .boolean(column.distinctIsEstimated),
      "least": Self.value(column.least), "greatest": Self.value(column.greatest),
      "mean": column.mean.map { .real($0) } ?? nil,
      "least_blob_bytes": JSONValue(lengths?.lowerBound),
      "greatest_blob_bytes": JSONValue(lengths?.upperBound),
      "most_frequent": .array(
        column.mostFrequent.map {
          ["value": Self.value($0.value), "count": JSONValue($0.count)]
        }),
    ]
  }

  private static func value(_ value: FieldpackCore.Value?) -> JSONValue {
    switch value {
    case nil, .null: nil
    case .boolean(let flag): .boolean(flag)
    case .integer(let number): .integer(number)
    case .real(let number) where number.isFinite: .real(number)
    case let value?: .text(value.plainText)
    }
  }
}
