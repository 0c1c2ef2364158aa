import FieldpackCore
import FieldpackSQLite

/// The ids that rows of a merged layer have in the target.
struct MergedIDs {
  let merge: LayerMerge
  let target: GeoPackageSession
  private var matched: [LayerID: [Int64: Int64]] = [:]

  init(merge: LayerMerge, target: GeoPackageSession) {
    self.merge = merge
    self.target = target
  }

  /// The id of a row here; `nil` where it is not known.
  mutating func id(
    of number: Int64, in part: LayerMerge.Part
  ) throws(FieldpackError) -> Int64? {
    if let equal = part.equals[number]?.first { return equal }
    switch part.ids {
    case .kept(let renumbered): return renumbered[number] ?? number
    case .unknown: return nil
    case .matched(let column):
      if matched[part.source] == nil { matched[part.source] = try match(part, by: column) }
      return matched[part.source]?[number]
    }
  }

  private func match(
    _ part: LayerMerge.Part, by column: String
  ) throws(FieldpackError) -> [Int64: Int64] {
    guard let from = try merge.source.catalogue().layer(part.source),
      let into = try target.catalogue().layer(part.target)
    else { return [:] }
    let rows = try merge.source.prepare(
      "SELECT \(from.idExpression), \(quoted(column)) FROM \(quoted(from.table))",
      in: part.source)
    defer { rows.reset() }
    var found: [Int64: Int64] = [:]
    while try rows.step() {
      found[rows.row.integer(0)] = try target.integer(
        "SELECT \(into.idExpression) FROM \(quoted(into.table)) WHERE \(quoted(column)) = ?",
        [rows.row.value(1)])
    }
    return found
  }
}
