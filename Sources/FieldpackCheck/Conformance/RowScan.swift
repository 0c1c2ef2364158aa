import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// Reads a layer's rows once, by ascending id, and checks their values against the declared types.
///
/// After a damaged page the scan continues with the next readable row.
final class RowScan {
  struct Row {
    /// `nil` in a view without a key.
    var id: Int64?
    var indexBox: BlobExamination.IndexBox
  }

  private struct ValueColumn {
    var name: String
    var type: ColumnType
  }

  private let check: ConformanceCheck
  private let table: String
  /// The id in SQL; `nil` where the rows cannot be addressed by id.
  private let idSQL: String?
  private let geometry: ConformanceCheck.GeometryColumnRow?
  private let geometryName: String?
  private let columns: [ValueColumn]
  private let values: LentValues
  private let rules: BlobExamination.Rules
  private let workers: ValidityWorkers?
  private var statement: SessionStatement?
  private var lastID: Int64?
  private var resumptions = 0
  private var isAtEnd = false

  private(set) var extent: Envelope?
  private(set) var count = 0
  private(set) var isComplete = true
  private(set) var curves: Set<GeometryType> = []

  /// Bounds the time that a badly damaged file takes.
  private static let resumptionLimit = 1_000

  init(
    _ check: ConformanceCheck, _ object: ConformanceCheck.SchemaObject,
    geometry: ConformanceCheck.GeometryColumnRow?
  ) throws(FieldpackError) {
    self.check = check
    self.geometry = geometry
    table = object.name
    idSQL = try check.rowID(of: object.name)
    let all = try check.columns(of: object.name)
    let wanted = geometry.map { SQLName($0.column) }
    let geometryColumn = all.first { SQLName($0.name) == wanted }
    // A generated column runs SQL of the file and stores nothing, so it is not read.
    geometryName = geometryColumn?.isGenerated == true ? nil : geometryColumn?.name
    let geometryName = geometryName
    columns = all.compactMap { column in
      guard column.name != geometryName, !column.isGenerated else { return nil }
      let type = ColumnType(sql: column.type)
      if case .other = type { return nil }
      return ValueColumn(name: column.name, type: type)
    }
    values = LentValues(count: 2 + columns.count)
    rules = Self.rules(geometry, in: check)
    workers = check.checksValidity && geometryName != nil ? ValidityWorkers() : nil
    if let geometryColumn, geometryColumn.isGenerated {
      try check.report(
        .note, .core(19), table: table, column: geometryColumn.name,
        "its values are generated, so they are not checked")
    }
  }

  /// Whether the scan reads geometries.
  var hasGeometry: Bool { geometryName != nil }

  private static func rules(
    _ geometry: ConformanceCheck.GeometryColumnRow?, in check: ConformanceCheck
  ) -> BlobExamination.Rules {
    guard let geometry else { return BlobExamination.Rules() }
    var rules = BlobExamination.Rules(
      column: GeometryRules(
        type: GeometryType(name: geometry.type), srsID: geometry.srsID, z: geometry.z,
        m: geometry.m), systems: check.systems ?? [])
    rules.allowsExtended = check.hasOwnExtension(table: geometry.table, column: geometry.column)
    return rules
  }

  /// Whether rows come by ascending id, and every gap is reported.
  var isOrdered: Bool { idSQL != nil }

  // MARK: Rows

  /// Reads and examines the next row; `nil` at the end.
  func next() throws(FieldpackError) -> Row? {
    while !isAtEnd {
      do throws(FieldpackError) {
        guard try step() else {
          isAtEnd = true
          break
        }
        return try examine()
      } catch {
        guard let reason = error.damage else { throw error }
        try skip(reason, isDamage: error.code == .corrupt)
      }
    }
    statement = nil
    if let workers { try report(try workers.finish()) }
    return nil
  }

  private func step() throws(FieldpackError) -> Bool {
    let running: SessionStatement
    if let statement {
      running = statement
    } else {
      running = try prepare(from: lastID.map { $0 &+ 1 })
      statement = running
    }
    guard try running.step() else { return false }
    running.row.lend(values)
    count += 1
    try check.noteRow()
    return true
  }

  private func prepare(from first: Int64?) throws(FieldpackError) -> SessionStatement {
    let names =
      [idSQL ?? "NULL", geometryName.map { quoted($0) } ?? "NULL"]
      + columns.map { quoted($0.name) }
    var sql = "SELECT \(names.joined(separator: ", ")) FROM \(quoted(table))"
    if let idSQL {
      if first != nil { sql += " WHERE \(idSQL) >= ?" }
      sql += " ORDER BY \(idSQL)"
    }
    return try check.file.prepare(sql, first.map { [.integer($0)] } ?? [], caching: false)
  }

  private func examine() throws(FieldpackError) -> Row {
    let row = values.row
    let id = idSQL == nil || row[0].kind != .integer ? nil : row[0].integer
    lastID = id
    for (index, column) in columns.enumerated() {
      guard let fault = ColumnTypes.fault(of: row[index + 2], in: column.type) else { continue }
      try check.report(
        .warning, .core(5), table: table, column: column.name, row: id, fault)
    }
    guard geometryName != nil else {
      return Row(id: id, indexBox: geometry == nil ? .none : .unknown)
    }
    return Row(id: id, indexBox: try examineGeometry(row[1], id))
  }

  private func examineGeometry(
    _ value: LentValue, _ id: Int64?
  ) throws(FieldpackError) -> BlobExamination.IndexBox {
    switch value.kind {
    case .null: return .none
    case .blob: break
    default:
      try check.report(
        .error, .core(19), table: table, column: geometryName, row: id,
        "it is \(ColumnTypes.name(value.kind)), not a blob")
      return .unknown
    }
    let examination = value.withBytes { BlobExamination($0, rules) }
    for fault in examination.faults {
      try check.report(
        fault.level, fault.requirement, table: table, column: geometryName, row: id, fault.reason,
        repair: repair(fault.mend))
    }
    if let envelope = examination.envelope, !envelope.hasInfiniteBounds {
      if extent == nil { extent = envelope } else { extent?.formUnion(envelope) }
    }
    if let type = examination.type, type.isCurved { curves.insert(type) }
    if examination.isWhole { try examineValidity(value, id) }
    return examination.indexBox
  }

  /// Has the validity of a geometry examined.
  private func examineValidity(_ value: LentValue, _ id: Int64?) throws(FieldpackError) {
    guard let workers else { return }
    let found = try value.withBytes { (blob) throws(FieldpackError) in
      guard let header = try? GeoPackageBinary(blob) else { return [ValidityWorkers.Invalid]() }
      return try workers.add(blob.extracting(droppingFirst: header.bodyOffset), id)
    }
    try report(found)
  }

  private func report(_ invalid: [ValidityWorkers.Invalid]) throws(FieldpackError) {
    for geometry in invalid {
      let place = geometry.place.map { " at \($0.x) \($0.y)" } ?? ""
      try check.report(
        .error, .validity, table: table, column: geometryName, row: geometry.row,
        place: geometry.place, geometry.reason + place + (geometry.isCurved ? Self.ofCurve : ""),
        repair: geometry.isMendable && idSQL != nil ? .validity(table: table) : nil)
    }
  }

  private static let ofCurve = ", its arcs taken as lines; a repair leaves curves as they are"

  private func repair(_ mend: BlobExamination.Mend?) -> Repair? {
    guard let mend, let geometry else { return nil }
    switch mend {
    case .header: return idSQL == nil ? nil : .blobHeaders(table: table)
    case .z: return .ordinates(table: geometry.table, column: "z")
    case .m: return .ordinates(table: geometry.table, column: "m")
    }
  }

  // MARK: Damage

  /// Reports rows that cannot be read, and continues after them where their ids allow it.
  private func skip(_ reason: String, isDamage: Bool) throws(FieldpackError) {
    statement = nil
    isComplete = false
    resumptions += 1
    let from = lastID.map { $0 &+ 1 } ?? 0
    let next = idSQL == nil || resumptions > Self.resumptionLimit ? nil : try firstReadable(from)
    let rows =
      switch (lastID, next) {
      case (let last?, let next?): "the rows between \(last) and \(next)"
      case (let last?, nil): "the rows behind \(last)"
      case (nil, let next?): "the rows before \(next)"
      case (nil, nil): "its rows"
      }
    let text = "\(rows) cannot be read: \(reason)"
    if isDamage {
      try check.reportDamage(table: table, text)
    } else {
      try check.report(.error, .core(5), table: table, text)
    }
    guard let next else {
      isAtEnd = true
      return
    }
    lastID = next &- 1
  }

  /// The lowest id from `from` on whose row can be read; `nil` where none is found.
  private func firstReadable(_ from: Int64) throws(FieldpackError) -> Int64? {
    var distance: Int64 = 1
    var low = from
    while true {
      let (high, isBeyond) = from.addingReportingOverflow(distance)
      guard !isBeyond else { return nil }
      switch try probe(high) {
      case .row(let id): return try nearest(between: low, and: high, id)
      case .end: return try lastReadable(from)
      case .damage: low = high
      }
      let (doubled, isTooFar) = distance.multipliedReportingOverflow(by: 2)
      guard !isTooFar else { return nil }
      distance = doubled
    }
  }

  /// The first readable row after `low`. `low` is not readable, and `found` is the first row from
  /// `high` on.
  private func nearest(
    between low: Int64, and high: Int64, _ found: Int64
  ) throws(FieldpackError) -> Int64 {
    var (low, high, found) = (low, high, found)
    while low &+ 1 < high {
      let middle = low + (high - low) / 2
      if case .row(let id) = try probe(middle) {
        (high, found) = (middle, id)
      } else {
        low = middle
      }
    }
    return found
  }

  /// The last row, if it can be read. Between a damaged page and the end there may be more rows.
  private func lastReadable(_ from: Int64) throws(FieldpackError) -> Int64? {
    guard let idSQL else { return nil }
    do throws(FieldpackError) {
      let last = try check.file.integer("SELECT max(\(idSQL)) FROM \(quoted(table))")
      guard let last, last >= from, case .row(let id) = try probe(last) else { return nil }
      return id
    } catch {
      guard error.damage != nil else { throw error }
      return nil
    }
  }

  private enum Probe {
    case row(Int64)
    case end
    case damage
  }

  /// Tries to read the first row from an id on, with all its values.
  private func probe(_ id: Int64) throws(FieldpackError) -> Probe {
    do throws(FieldpackError) {
      let statement = try prepare(from: id)
      guard try statement.step() else { return .end }
      statement.row.lend(values)
      return .row(values.row[0].integer)
    } catch {
      guard error.damage != nil else { throw error }
      return .damage
    }
  }
}
