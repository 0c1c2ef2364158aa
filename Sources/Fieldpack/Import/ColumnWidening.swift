import FieldpackCore
import FieldpackGeometry

/// Which type holds the values of two columns.
enum ColumnWidening {
  static func type(
    for own: ColumnDefinition, and new: ColumnDefinition, isFixed: Bool, file: String
  ) throws(FieldpackError) -> ColumnType {
    if own.type == new.type || own.type.holds(new.type) { return own.type }
    if isFixed, let read = own.type.read(from: new.type) { return read }
    guard !isFixed else {
      throw FieldpackError(
        .invalidData,
        "column '\(own.name)' is \(own.type.sql), \(file) has \(new.type.sql) values in it",
        position: FilePosition(file: file))
    }
    return new.type.holds(own.type) ? new.type : .text()
  }
}

extension ColumnType {
  /// As what values of `other` are read for a column of this type, which is narrower and refuses
  /// single values; `nil` where it can hold none.
  fileprivate func read(from other: ColumnType) -> ColumnType? {
    switch (self, other) {
    case (.tinyInt, .integer), (.smallInt, .integer), (.mediumInt, .integer): .integer
    case (.float, .double), (.float, .integer): .double
    case (.text, .text): .text()
    default: nil
    }
  }

  /// Whether a column of this type can hold every value of `other` without loss.
  func holds(_ other: ColumnType) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.text(nil), _): return true
    case (.double, .integer), (.double, .float): return true
    case (.integer, .mediumInt), (.integer, .smallInt), (.integer, .tinyInt): return true
    default: return false
    }
  }
}

extension OrdinateRule {
  static func holding(_ a: OrdinateRule, _ b: OrdinateRule) -> OrdinateRule {
    a == b ? a : .optional
  }
}
