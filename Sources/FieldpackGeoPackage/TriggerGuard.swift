import FieldpackCore
import FieldpackSQLite

/// Keeps the triggers and views of a file to what a GeoPackage needs of them.
///
/// Asked while statements are prepared, so it costs nothing a row.
final class TriggerGuard: Sendable {
  /// What was refused last.
  private let refused = Locked<AuthorizedAction?>(nil)

  func watch(_ connection: Connection) {
    // The connection's companion holds this, and it the closure.
    connection.setAuthorizer(.insideTriggers { [self] in permits($0) })
  }

  /// Whether a trigger or a view may do that.
  func permits(_ action: AuthorizedAction) -> Bool {
    let isPermitted =
      switch action.kind {
      case .select, .read, .recursive: true
      case .insert, .update, .delete: Self.isKept(action.first ?? "")
      case .function: Self.functions.contains((action.second ?? "").lowercased())
      default: false
      }
    if !isPermitted { refused.withLock { $0 = action } }
    return isPermitted
  }

  /// The error for a statement that was not authorized because of a trigger; `nil` for others.
  func refusal(_ error: SQLiteError) -> FieldpackError? {
    let action = refused.withLock { action in
      defer { action = nil }
      return action
    }
    // A function that is not permitted fails as one that is misused, so the code does not tell.
    guard let action, error.message.hasPrefix("not authorized") else { return nil }
    return FieldpackError(
      .permission,
      "the file's '\(action.source ?? "")' \(Self.deed(action)), which is more than keeping an index. "
        + #"Try: a store config with "options": {"triggers": true}"#, underlying: error)
  }

  private static func deed(_ action: AuthorizedAction) -> String {
    switch action.kind {
    case .insert, .update, .delete: "changes the table '\(action.first ?? "")'"
    case .function: "calls \(action.second ?? "")()"
    default: "does more than change rows"
    }
  }

  /// R-trees with their shadow tables, and the tables of the standard and of GDAL.
  private static func isKept(_ table: String) -> Bool {
    let name = table.lowercased()
    return name.hasPrefix("rtree_") || name.hasPrefix("gpkg_")
  }

  private static let functions: Set = [
    "st_minx", "st_maxx", "st_miny", "st_maxy", "st_isempty",
    "abs", "coalesce", "count", "date", "datetime", "glob", "ifnull", "iif", "instr", "julianday",
    "length", "like", "lower", "ltrim", "max", "min", "nullif", "round", "rtrim", "strftime",
    "substr", "substring", "sum", "time", "total", "trim", "typeof", "unicode", "upper",
  ]
}
