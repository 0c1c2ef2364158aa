package import FieldpackCore
import FieldpackSQLite

extension GeoPackageStore {
  /// The standard's types for the columns that are declared with other types, by the values that
  /// the columns hold.
  ///
  /// - Parameter schema: the layer with the columns that are asked for.
  package func storedTypes(
    of schema: Schema
  ) async throws(FieldpackError) -> [String: ColumnType] {
    let names = schema.columns.filter { $0.hasForeignType }.map(\.name)
    guard !names.isEmpty else { return [:] }
    return try await read { (snapshot) throws(FieldpackError) in
      let file = snapshot.file
      var types: [String: ColumnType] = [:]
      guard let table = try file.catalogue().layer(schema.layer) else { return types }
      for name in names where table.schema.columnIndex(name) != nil {
        let kinds = try file.limited("reading a column") { () throws(FieldpackError) in
          try file.rows(
            "SELECT DISTINCT typeof(\(quoted(name))) FROM \(quoted(table.table))")
        }
        types[name] = Self.type(for: Set(kinds.compactMap { $0[0].textValue }))
      }
      return types
    }
  }

  /// The type that holds values of all these storage classes; a text where nothing else does.
  private static func type(for kinds: Set<String>) -> ColumnType {
    switch kinds.subtracting(["null"]) {
    case ["integer"]: .integer
    case ["real"], ["integer", "real"]: .double
    case ["blob"]: .blob()
    default: .text()
    }
  }
}

extension ColumnDefinition {
  fileprivate var hasForeignType: Bool { if case .other = type { true } else { false } }
}
