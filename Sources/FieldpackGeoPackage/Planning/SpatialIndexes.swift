import FieldpackCore
package import FieldpackGeometry
import FieldpackRTree
package import FieldpackSQLite
package import FieldpackTopology

/// The R-trees of one connection's file, and the SQL functions that search them:
///
/// - `fieldpack_candidates(rtree, relation, minx, miny, maxx, maxy)`: the features whose envelope
///   may have the relation to the box.
/// - `fieldpack_related(rtree, relation, wkb)`: the features whose geometry may have the relation
///   to the given one.
///
/// Both give two columns: `"fieldpack id"`, ascending, and `"fieldpack sure"`, which is 1 where the
/// R-tree alone proves the relation. The names hold a space so that no column of a layer has them.
package final class SpatialIndexes {
  static let idColumn = quoted("fieldpack id")
  static let sureColumn = quoted("fieldpack sure")

  unowned let connection: Connection
  private let relations: RelationFunctions
  private var readers: [String: RTreeReader] = [:]
  /// The layers of the file that have R-trees, by the names of these.
  var tables: [String: IndexedTable] = [:]
  /// What is known of the R-trees; `nil` for a file of our own, whose R-trees are believed.
  var verdicts: IndexVerdicts?
  /// What the reports of running queries have to tell of R-trees.
  var pendingNotes: Set<Note> = []
  /// The latest answer, because a query that is read in ranges of ids asks for the same again and
  /// again.
  private var latest: Answer?

  private struct Answer {
    var function: String
    var values: [SQLiteValue]
    var version: UInt32
    var list: IDList
  }

  init(_ connection: Connection, relations: RelationFunctions) {
    self.connection = connection
    self.relations = relations
  }

  func register() throws(SQLiteError) {
    try register("fieldpack_candidates", arguments: 6) {
      (indexes, values) throws(SQLiteError) in try indexes.candidates(values)
    }
    try register("fieldpack_related", arguments: 3) {
      (indexes, values) throws(SQLiteError) in try indexes.related(values)
    }
  }

  private func register(
    _ name: String, arguments: Int,
    _ body: @escaping (SpatialIndexes, [SQLiteValue]) throws(SQLiteError) -> IDList
  ) throws(SQLiteError) {
    try connection.register(
      idTable: name, idColumn: "fieldpack id", unmarkedColumn: "fieldpack sure",
      argumentCount: arguments
    ) { [unowned self] (values) throws(SQLiteError) in
      // A rollback undoes this connection's own writes without a new version, so their answers are
      // not kept.
      let version = connection.totalChanges == 0 ? connection.snapshotVersion : nil
      if let rtree = values.first?.textValue { remark(on: rtree) }
      if let latest, latest.version == version, latest.function == name, latest.values == values {
        return latest.list
      }
      latest = nil
      let list = try body(self, values)
      latest = version.map { Answer(function: name, values: values, version: $0, list: list) }
      return list
    }
  }

  /// The R-tree of that name, in the state of the file that is being read.
  func reader(_ name: String, in schema: String = "main") -> RTreeReader {
    let key = "\(quoted(schema)).\(name)"
    if let known = readers[key] { return known }
    let reader = RTreeReader(name: name, in: schema, on: connection)
    readers[key] = reader
    return reader
  }

  private func candidates(_ values: [SQLiteValue]) throws(SQLiteError) -> IDList {
    let box = values[2...].compactMap(\.realValue)
    guard let rtree = values[0].textValue, box.count == 4,
      let relation = EnvelopeRelation(rawValue: values[1].textValue ?? ""), relation != .disjoint
    else {
      throw Self.misuse(
        "fieldpack_candidates() takes an R-tree, a relation and four numbers: minx, miny, maxx, maxy"
      )
    }
    let window = RTreeWindow(
      relation, Envelope(minX: box[0], minY: box[1], maxX: box[2], maxY: box[3]))
    let (certain, uncertain) = try candidates(rtree, window)
    return IDList(certain + uncertain, marked: uncertain)
  }

  private func related(_ values: [SQLiteValue]) throws(SQLiteError) -> IDList {
    guard let rtree = values[0].textValue, case .blob(let wkb) = values[2],
      let relation = SpatialRelation(rawValue: values[1].textValue ?? ""), relation != .disjoint
    else {
      throw Self.misuse("fieldpack_related() takes an R-tree, a relation and a geometry in WKB")
    }
    let prepared: PreparedGeometry
    do throws(TopologyError) {
      prepared = try relations.prepared(wkb.span.bytes)
    } catch {
      throw Self.misuse("the geometry cannot be used: \(error)")
    }
    return try related(rtree, relation, prepared)
  }

  /// The features that may have the relation to a geometry; those that need the exact test are
  /// marked.
  package func related(
    _ rtree: String, in schema: String = "main", _ relation: SpatialRelation,
    _ prepared: PreparedGeometry
  ) throws(SQLiteError) -> IDList {
    guard let envelope = prepared.envelope else { return IDList([]) }
    let window = RTreeWindow(relation.ofEnvelopes, envelope)
    return try believing(rtree, in: schema) { (verdict) throws(SQLiteError) in
      var (ids, unsure): ([Int64], [Int64]) = ([], [])
      try reader(rtree, in: schema).visit(window) { id, bounds in
        switch prepared.decision(on: relation, within: RTreeWindow.cover(of: bounds)) {
        case false?: break
        case true?:
          ids.append(id)
          if verdict == .holdsEmpties { unsure.append(id) }
        case nil:
          ids.append(id)
          unsure.append(id)
        }
      }
      return IDList(ids, marked: unsure)
    } otherwise: { ids in
      IDList(ids, marked: ids)
    }
  }

  private static func misuse(_ message: String) -> SQLiteError {
    SQLiteError(extendedCode: 1, message: message)
  }
}

extension SpatialRelation {
  /// The relation that the envelopes have whenever the geometries have this one.
  fileprivate var ofEnvelopes: EnvelopeRelation {
    switch self {
    case .within, .coveredBy, .equals: .within
    case .contains, .covers: .contains
    case .intersects, .disjoint, .touches, .crosses, .overlaps: .intersects
    }
  }
}
