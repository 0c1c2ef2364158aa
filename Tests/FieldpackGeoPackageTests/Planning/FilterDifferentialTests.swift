import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackStoreKit
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Conditions at random, in SQL and in memory, over rows with NULLs, NaNs, values of the wrong class,
/// and empty and missing geometries.
@Suite(.calculation) struct FilterDifferentialTests {
  static let seed: UInt64 = 20_201_120

  @Test func `SQL finds what the evaluator finds, for 10,000 conditions`() throws {
    let rows = try RandomRows(seed: Self.seed)
    var generator = FilterGenerator(seed: Self.seed)
    var failures = 0
    var matches = 0
    for _ in 0..<10_000 where failures < 3 {
      let filter = generator.filter()
      guard let difference = try rows.difference(filter, &matches) else { continue }
      failures += 1
      let least = shrunk(filter) { (try? rows.difference($0, &matches)) != nil }
      let text = (try? least.cql2Text) ?? "\(least)"
      Issue.record("\(text)\n\(difference)\n\(try rows.sql(least))")
    }
    #expect(matches > 20_000)
  }

  /// Takes parts of a condition away as long as it fails.
  private func shrunk(_ filter: Filter, _ fails: (Filter) -> Bool) -> Filter {
    var least = filter
    while let smaller = least.smaller.first(where: fails) { least = smaller }
    return least
  }
}

/// A layer with the columns of the shared table and rows at random.
private final class RandomRows {
  private let package: TestPackage
  private let connection: Connection
  private var rows: [ValueRow] = []
  private let schema = FilterTableTests.schema
  private let lowering: FilterLowering

  /// Literals stay as they are.
  private struct AsIs: LiteralProjecting {
    func boxes(_ box: Envelope, from srs: SRS?, to table: LayerTable) -> [Envelope] { [box] }
    func geometry(_ geometry: Geometry, from srs: SRS?, to table: LayerTable) -> Geometry {
      geometry
    }
  }

  init(seed: UInt64) throws {
    package = try TestPackage()
    connection = try Connection(path: package.path, mode: .readWrite, profile: .bulk)
    _ = try connection.session("survey")
    lowering = FilterLowering(
      table: LayerTable(
        layer: Layer(schema: schema, kind: .features), table: "places", idSQL: "\"fid\"",
        rtree: nil, srsID: 4326), project: AsIs())
    let columns = FilterTable.columns.map { "\(quoted($0.name)) \($0.type)" }
    try connection.executeScript(
      "CREATE TABLE places (fid INTEGER PRIMARY KEY, geom BLOB, "
        + columns.joined(separator: ", ") + ")")
    try fill(seed: seed)
    try readBack()
  }

  private func fill(seed: UInt64) throws {
    var generator = FilterGenerator(seed: ~seed)
    let marks = Array(repeating: "?", count: FilterTable.columns.count + 1)
    let insert = try connection.prepare(
      "INSERT INTO places VALUES (NULL, \(marks.joined(separator: ", ")))")
    for _ in 0..<40 {
      var blob: SQLiteValue = .null
      if let geometry = generator.geometry() {
        var bytes: [UInt8] = []
        GeoPackageBinary.append(geometry, srsID: 4326, to: &bytes)
        blob = .blob(bytes)
      }
      var values = [blob]
      for _ in FilterTable.columns {
        switch generator.value() {
        case .integer(let number): values.append(.integer(number))
        case .real(let number): values.append(.real(number))
        case .text(let text): values.append(.text(text))
        case .blob(let bytes): values.append(.blob(bytes))
        default: values.append(.null)
        }
      }
      try insert.bind(values)
      try insert.run()
    }
  }

  /// The rows as SQLite has stored them.
  private func readBack() throws {
    let select = try connection.prepare("SELECT * FROM places ORDER BY fid")
    while try select.step() {
      let values = (2..<2 + schema.columns.count).map { index -> Value in
        switch select.value(index) {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .blob(let bytes): .blob(bytes)
        }
      }
      let wkb = try select.blob(1).map { blob in
        Array(blob[try GeoPackageBinary(blob.span.bytes).bodyOffset...])
      }
      rows.append(ValueRow(id: .integer(select.integer(0)), values, wkb: wkb))
    }
  }

  func sql(_ filter: Filter) throws -> SQLFragment { try lowering.condition(filter) }

  /// What differs between the two evaluators, for the condition as it is read back from its text
  /// where it has one, and for its negation.
  func difference(_ filter: Filter, _ matches: inout Int) throws -> String? {
    let evaluator = try FilterEvaluator(filter, schema: schema)
    var expected: (yes: [Int64], no: [Int64]) = ([], [])
    for (index, row) in rows.enumerated() {
      switch try evaluator.evaluate(row) {
      case true?: expected.yes.append(Int64(index + 1))
      case false?: expected.no.append(Int64(index + 1))
      case nil: break
      }
    }
    matches += expected.yes.count
    let text = try? filter.cql2Text
    let read = try text.map { try Filter(cql2: $0) } ?? filter
    let found = try ids(read)
    if found != expected.yes { return "SQL finds \(found), the evaluator \(expected.yes)" }
    let negation = try ids(.not(read))
    if negation == expected.no { return nil }
    return "negated, SQL finds \(negation), the evaluator \(expected.no)"
  }

  private func ids(_ filter: Filter) throws -> [Int64] {
    let condition = try lowering.condition(filter)
    let select = try connection.prepare(
      "SELECT fid FROM places WHERE \(condition.text) ORDER BY fid", caching: false)
    try select.bind(condition.parameters)
    var ids: [Int64] = []
    while try select.step() { ids.append(select.integer(0)) }
    return ids
  }
}

extension Filter {
  /// Conditions with one thing less.
  fileprivate var smaller: [Filter] {
    switch self {
    case .and(let parts) where parts.count > 1:
      parts + parts.indices.map { .and(Self.without($0, parts)) }
        + parts.indices.flatMap { index in
          parts[index].smaller.map { .and(Self.replacing(index, $0, parts)) }
        }
    case .or(let parts) where parts.count > 1:
      parts + parts.indices.map { .or(Self.without($0, parts)) }
        + parts.indices.flatMap { index in
          parts[index].smaller.map { .or(Self.replacing(index, $0, parts)) }
        }
    case .and(let parts), .or(let parts): parts
    case .not(let part): [part] + part.smaller.map { .not($0) }
    case .compare(let a, let comparison, let b):
      a.smaller.map { .compare($0, comparison, b) } + b.smaller.map { .compare(a, comparison, $0) }
    case .between(let a, let b, let c):
      [.compare(a, .greaterOrEqual, b), .compare(a, .lessOrEqual, c)]
    case .isIn(let a, let list): list.map { .compare(a, .equal, $0) }
    case .isNull(let a): a.smaller.map { .isNull($0) }
    case .like(let a, let pattern, let folding):
      a.smaller.map { .like($0, pattern: pattern, folding: folding) }
    case .temporal(let relation, let a, let b):
      a.smaller.map { .temporal(relation, $0, b) } + b.smaller.map { .temporal(relation, a, $0) }
    case .array(let relation, let a, let b):
      a.smaller.map { .array(relation, $0, b) } + b.smaller.map { .array(relation, a, $0) }
    case .all, .envelope, .relation, .test, .spatial, .vertex: []
    }
  }

  private static func without(_ index: Int, _ parts: [Filter]) -> [Filter] {
    var parts = parts
    parts.remove(at: index)
    return parts
  }

  private static func replacing(_ index: Int, _ part: Filter, _ parts: [Filter]) -> [Filter] {
    var parts = parts
    parts[index] = part
    return parts
  }
}

extension Operand {
  fileprivate var smaller: [Operand] {
    switch self {
    case .column, .literal: []
    case .arithmetic(let a, let operation, let b):
      [a, b] + a.smaller.map { .arithmetic($0, operation, b) }
        + b.smaller.map { .arithmetic(a, operation, $0) }
    case .call(let function, let arguments):
      arguments + (arguments.first?.smaller.map { .call(function, [$0]) } ?? [])
    case .condition(let filter): filter.smaller.map { .condition($0) }
    case .interval(let start, let end): [start, end].compactMap(\.self)
    case .list(let items):
      items.indices.map { index in
        var fewer = items
        fewer.remove(at: index)
        return .list(fewer)
      }
    }
  }
}
