import FieldpackCore
import FieldpackGeometry

/// The type of a column as people write it: of an attribute or of geometries.
enum DeclaredType: Hashable, Sendable, CustomStringConvertible {
  case attribute(ColumnType)
  case geometry(GeometryType, hasZ: Bool, hasM: Bool)

  var description: String {
    switch self {
    case .attribute(let type): type == .json ? "JSON" : type.sql
    case .geometry(let type, let hasZ, let hasM):
      type.name + (hasZ || hasM ? " " : "") + (hasZ ? "Z" : "") + (hasM ? "M" : "")
    }
  }

  /// `POINT`, `POINT Z`, `POINTZM`.
  init?(geometry text: String) {
    let word = text.uppercased().filter { $0 != " " }
    for (ending, hasZ, hasM) in [
      ("", false, false), ("ZM", true, true), ("Z", true, false), ("M", false, true),
    ] where word.hasSuffix(ending) {
      guard let type = GeometryType(name: String(word.dropLast(ending.count))) else { continue }
      self = .geometry(type, hasZ: hasZ, hasM: hasM)
      return
    }
    return nil
  }
}

extension ColumnType {
  private static let names = [
    "BOOLEAN", "TINYINT", "SMALLINT", "MEDIUMINT", "INTEGER", "FLOAT", "REAL", "TEXT",
    "TEXT(length)", "BLOB", "DATE", "DATETIME", "JSON",
  ]

  fileprivate init(text: String) throws(ValueError) {
    let type = text.uppercased() == "JSON" ? .json : ColumnType(sql: text)
    if case .other = type {
      throw ValueError("is no type of GeoPackage: \(Self.names.joined(separator: ", "))")
    }
    self = type
  }
}

extension ValueForm where Value == ColumnType {
  static var columnType: ValueForm {
    ValueForm("type") { (text) throws(ValueError) in try ColumnType(text: text) }
  }
}

extension ValueForm where Value == DeclaredType {
  static var declaredType: ValueForm {
    ValueForm("type") { (text) throws(ValueError) in
      if let type = DeclaredType(geometry: text) { return type }
      return .attribute(try ColumnType(text: text))
    }
  }
}
