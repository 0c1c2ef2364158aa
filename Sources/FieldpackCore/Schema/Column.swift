/// The name of an attribute with the Swift type of its values.
///
///     let depth = Column<Double>("depth")
///     let query = Query("wells", where: depth > 40 && Column<String>("name").like("Burglehn%"))
///     let value = well[depth]
public struct Column<Value: AttributeValue>: Hashable, Sendable {
  public let name: String
  public init(_ name: String) { self.name = name }

  private func compare(_ comparison: Comparison, _ value: Value) -> Filter {
    .compare(.column(name), comparison, .literal(value.attributeValue))
  }

  public static func == (column: Self, value: Value) -> Filter { column.compare(.equal, value) }
  public static func != (column: Self, value: Value) -> Filter { column.compare(.notEqual, value) }
  public static func < (column: Self, value: Value) -> Filter { column.compare(.less, value) }
  public static func <= (column: Self, value: Value) -> Filter {
    column.compare(.lessOrEqual, value)
  }
  public static func > (column: Self, value: Value) -> Filter { column.compare(.greater, value) }
  public static func >= (column: Self, value: Value) -> Filter {
    column.compare(.greaterOrEqual, value)
  }

  /// Features whose value lies from `low` to `high`, both included.
  public func between(_ low: Value, _ high: Value) -> Filter {
    .between(
      .column(name), .literal(low.attributeValue), .literal(high.attributeValue))
  }

  public func isIn(_ values: some Sequence<Value>) -> Filter {
    .isIn(.column(name), values.map { .literal($0.attributeValue) })
  }

  public var isNull: Filter { .isNull(.column(name)) }
}

extension Column where Value == String {
  /// Features whose text matches `pattern`, case-sensitively: `%` stands for any run of characters,
  /// `_` for any character, and `\` makes the next character stand for itself.
  public func like(_ pattern: String) -> Filter { .like(.column(name), pattern: pattern) }
}
