import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// The kinds of values in the columns of a view, found by reading rows where no declaration tells.
struct RowFacts {
  fileprivate struct Facts {
    var kinds: Set<StorageClass> = []
    var geometries = 0
    var types: Set<GeometryType> = []
    var hasZ: Set<Bool> = []
    var hasM: Set<Bool> = []
    var srsID: Int64?
  }

  /// The number of rows that are read at first.
  private static let sampleSize = 1_000

  private var facts: [String: Facts] = [:]
  /// Whether all rows were read.
  private let isWhole: Bool

  /// Reads all columns of the first rows, and of all further rows the columns `open`: no value of a
  /// later row may be lost.
  init(
    _ file: GeoPackageSession, view: String, open: [String]
  ) throws(FieldpackError) {
    var facts: [String: Facts] = [:]
    let count = try Self.walk(
      file, "SELECT * FROM \(quoted(view)) LIMIT \(Self.sampleSize)", &facts)
    isWhole = count < Self.sampleSize
    let left = open.filter { name in facts[name].map { !$0.holdsGeometries } ?? true }
    if !isWhole, !left.isEmpty {
      let selected = left.map { quoted($0) }.sqlList
      try Self.walk(file, "SELECT \(selected) FROM \(quoted(view))", &facts)
    }
    self.facts = facts
  }

  @discardableResult
  private static func walk(
    _ file: GeoPackageSession, _ sql: String, _ facts: inout [String: Facts]
  ) throws(FieldpackError) -> Int {
    var count = 0
    do throws(SQLiteError) {
      let statement = try file.connection.prepare(sql, caching: false)
      let names = statement.columnNames
      var found = names.map { facts[$0] ?? Facts() }
      while try statement.step() {
        count += 1
        for column in found.indices { found[column].note(statement, column) }
      }
      for (name, found) in zip(names, found) { facts[name] = found }
    } catch {
      throw SQLContext(file: file, use: .layer).error(error)
    }
    return count
  }

  func isGeometry(_ column: TableReader.Column) -> Bool {
    guard let facts = facts[column.definition.name] else { return false }
    return facts.holdsGeometries
      || GeometryType(name: column.declared) != nil && facts.kinds.isEmpty
  }

  func srsID(of column: TableReader.Column) -> Int64? { facts[column.definition.name]?.srsID }

  func geometryColumn(_ column: TableReader.Column, _ srs: SRS) -> GeometryColumn {
    let facts = facts[column.definition.name] ?? Facts()
    let only = isWhole && facts.types.count == 1 ? facts.types.first : nil
    func rule(_ has: Set<Bool>) -> OrdinateRule {
      guard isWhole, has.count == 1, let all = has.first else { return .optional }
      return all ? .mandatory : .prohibited
    }
    return GeometryColumn(
      column.definition.name, type: GeometryType(name: column.declared) ?? only ?? .geometry,
      srs: srs, z: rule(facts.hasZ), m: rule(facts.hasM))
  }

  /// The type that holds all values.
  func type(of name: String) -> ColumnType {
    switch facts[name]?.kinds ?? [] {
    case [.integer]: return .integer
    case [.real], [.integer, .real]: return .double
    case [.blob]: return .blob()
    default: return .text()
    }
  }
}

extension RowFacts.Facts {
  /// Whether the column holds nothing but geometries.
  fileprivate var holdsGeometries: Bool { geometries > 0 && kinds == [.blob] }

  fileprivate mutating func note(_ statement: Statement, _ column: Int) {
    let kind = statement.kind(column)
    if kind != .null { kinds.insert(kind) }
    guard kind == .blob else { return }
    let found = statement.withBytes(column) { blob -> (GeoPackageBinary, WKB.Header)? in
      guard let header = try? GeoPackageBinary(blob), !header.isExtended,
        let body = try? WKB.header(of: blob.extracting(header.bodyOffset...))
      else { return nil }
      return (header, body)
    }
    guard let (header, body) = found else { return }
    geometries += 1
    types.insert(body.type)
    hasZ.insert(body.dimensions.hasZ)
    hasM.insert(body.dimensions.hasM)
    if srsID == nil { srsID = Int64(header.srsID) }
  }
}
