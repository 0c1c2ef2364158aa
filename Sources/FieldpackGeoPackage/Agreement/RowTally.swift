import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// How many rows of a layer do not fit what the catalogue says of the layer.
struct RowTally {
  enum Fault: Hashable {
    case breach(GeometryRules.Breach)
    /// The value is no blob, or one that cannot be read.
    case unreadable(String)
  }

  /// How many rows have each fault, and the id of the first of them.
  private(set) var faults: [Fault: (count: Int, first: Int64?)] = [:]
  /// How many entries the R-tree has beyond the rows with positions; 0 without an R-tree.
  private(set) var surplus = 0
  private let rules: GeometryRules

  /// Reads all geometries of a layer that is a table.
  init(of table: LayerTable, in file: GeoPackageSession) throws(FieldpackError) {
    rules = table.geometryRules
    guard let geometry = table.schema.geometry else { return }
    let rows = try file.prepare(
      "SELECT \(table.idSQL ?? "NULL"), \(quoted(geometry.name)) FROM \(quoted(table.table))",
      caching: false)
    var indexed = 0
    while try rows.step() {
      let id = rows.row.kind(0) == .integer ? rows.row.integer(0) : nil
      switch rows.row.kind(1) {
      case .null: continue
      case .blob: if rows.row.withBytes(1, { examine($0, id) }) { indexed += 1 }
      default: add(.unreadable("it is no blob"), id)
      }
    }
    guard let rtree = table.rtree else { return }
    let entries = try file.integer("SELECT count(*) FROM \(quoted("\(rtree)_rowid"))") ?? 0
    surplus = Int(entries) - indexed
  }

  private mutating func add(_ fault: Fault, _ id: Int64?) {
    faults[fault, default: (0, id)].count += 1
  }

  /// Adds the faults of a blob; tells whether the R-tree has an entry for it.
  private mutating func examine(_ blob: RawSpan, _ id: Int64?) -> Bool {
    do throws(GeometryError) {
      let header = try GeoPackageBinary(blob)
      if let breach = rules.breach(of: header) { add(.breach(breach), id) }
      // The body of an extended encoding is not WKB, and it is not read anywhere.
      if header.isExtended { return !header.isFlaggedEmpty }
      let wkb = blob.extracting(droppingFirst: header.bodyOffset)
      for breach in rules.breaches(of: try WKB.header(of: wkb)) { add(.breach(breach), id) }
      return try WKB.envelope(of: wkb) != nil
    } catch {
      add(.unreadable(error.message), id)
      return false
    }
  }

  /// The first fault that more rows have than before, in words; `nil` where there is none.
  func worsening(since before: RowTally?) -> (reason: String, advice: FieldpackError.Advice?)? {
    let worse = faults.filter { $0.value.count > before?.faults[$0.key]?.count ?? 0 }
    if let (fault, rows) = worse.min(by: { $0.value.first ?? 0 < $1.value.first ?? 0 }) {
      let (reason, advice) = described(fault)
      let feature = rows.first.map { "feature \($0)" } ?? "a feature"
      let others = rows.count > 1 ? ", and \(rows.count - 1) more" : ""
      return ("\(feature) would not fit: \(reason)\(others)", advice)
    }
    guard abs(surplus) > abs(before?.surplus ?? 0) else { return nil }
    let reason = surplus > 0 ? "have \(surplus) entries too many" : "lack \(-surplus) entries"
    return ("its R-tree would \(reason)", .rebuildIndex)
  }

  private func described(_ fault: Fault) -> (reason: String, advice: FieldpackError.Advice?) {
    switch fault {
    case .unreadable(let reason): (reason, nil)
    case .breach(let breach): (rules.reason(breach), Self.advice(breach))
    }
  }

  private static func advice(_ breach: GeometryRules.Breach) -> FieldpackError.Advice? {
    switch breach {
    case .type, .foreignType, .prohibitedZ, .missingZ, .prohibitedM, .missingM: .retypeLayer
    case .system: .transformFile
    case .extendedWKB: nil
    }
  }
}

extension LayerTable {
  /// What the catalogue requires of the layer's geometries.
  package var geometryRules: GeometryRules {
    guard let geometry = schema.geometry else { return GeometryRules() }
    return GeometryRules(
      type: geometry.type, srsID: srsID, z: geometry.z.rawValue, m: geometry.m.rawValue)
  }
}
