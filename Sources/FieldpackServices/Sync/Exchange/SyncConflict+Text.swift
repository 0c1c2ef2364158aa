package import FieldpackCore
import FieldpackSQLite

/// Conflicts as people and documents get them.
extension SyncReport.Conflict {
  /// Such as `feature 7, name: 'Mitte' does not stand, 'Nord' does`.
  package var text: String {
    let place = feature.map { "feature \($0)" } ?? "a feature"
    switch values.kind {
    case .column:
      let column = values.column ?? ""
      return "\(place), \(column): \(Self.text(values.lost)) does not stand, "
        + "\(Self.text(values.kept)) does"
    case .revived: return "\(place) was deleted by others; it is there again, changed as here"
    case .unfit:
      return "an edit of others does not fit into \(place): \(Self.text(values.lost))"
    case .kept: return "\(place) was deleted here; it stays, because others changed it"
    }
  }

  package var lost: JSONValue { SyncJSON.value(values.lost) }
  package var kept: JSONValue { SyncJSON.value(values.kept) }

  private static func text(_ value: SQLiteValue) -> String {
    switch value {
    case .null: return "NULL"
    case .integer(let number): return "\(number)"
    case .real(let number): return "\(number)"
    case .text(let text):
      let isLong = text.count > 60
      return "'\(text.prefix(60))\(isLong ? "…" : "")'"
    case .blob(let bytes): return "a value of \(bytes.count.counting("byte"))"
    }
  }
}
