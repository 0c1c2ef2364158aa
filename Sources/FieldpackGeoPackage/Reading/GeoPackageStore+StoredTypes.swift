package import FieldpackCore
import FieldpackSQLite

extension GeoPackageSession {
  /// The standard's types for the columns that are declared with other types, by the values that
  /// the columns hold.
  ///
  /// - Parameter schema: the layer or table with the columns that are asked for.
  func storedTypes(of schema: Schema) throws(FieldpackError) -> [String: ColumnType] {
    let names = schema.columns.filter { $0.hasForeignType }.map(\.name)
    var types: [String: ColumnType] = [:]
    guard !names.isEmpty else { return types }
    let table = try catalogue().layer(schema.layer)
    for name in names where table == nil || table?.schema.columnIndex(name) != nil {
      let kinds = try limited("reading a column") { () throws(FieldpackError) in
        try rows(
          "SELECT DISTINCT typeof(\(quoted(name))) "
            + "FROM \(quoted(table?.table ?? schema.layer.rawValue))")
      }
      types[name] = Self.type(for: Set(kinds.compactMap { $0[0].textValue }))
    }
    return types
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

extension GeoPackageStore {
  /// As ``GeoPackageSession/storedTypes(of:)``; a layer that is not there has none.
  package func storedTypes(
    of schema: Schema
  ) async throws(FieldpackError) -> [String: ColumnType] {
    guard schema.columns.contains(where: \.hasForeignType) else { return [:] }
    return try await read { (snapshot) throws(FieldpackError) in
      guard try snapshot.file.catalogue().layer(schema.layer) != nil else { return [:] }
      return try snapshot.file.storedTypes(of: schema)
    }
  }
}

extension ColumnDefinition {
  fileprivate var hasForeignType: Bool { if case .other = type { true } else { false } }
}
