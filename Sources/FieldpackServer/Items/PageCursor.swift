import FieldpackCore

/// The last feature of a page, behind which the next page begins: its id, and its values of the columns
/// that the features are sorted by.
struct PageCursor: Hashable {
  let values: [Value]
  let id: FeatureID

  init(values: [Value], id: FeatureID) {
    self.values = values
    self.id = id
  }

  /// Reads the text of a link. It must fit the order of the same request.
  ///
  /// - Throws: `.invalidArgument`.
  init(_ text: String, order: [Order], of layer: ServedLayer) throws(FieldpackError) {
    guard order.isEmpty else {
      guard let bytes = Base64.decode(text.utf8),
        case .array(let items)? = try? JSONValueReader.read(String(decoding: bytes, as: UTF8.self)),
        items.count == order.count + 1, let id = Self.id(items[order.count], in: layer)
      else { throw Self.refusal(text) }
      var values: [Value] = []
      for (item, order) in zip(items, order) {
        guard let value = Self.value(item, of: order.column, in: layer) else {
          throw Self.refusal(text)
        }
        values.append(value)
      }
      self.init(values: values, id: id)
      return
    }
    guard let id = layer.featureID(text) else { throw Self.refusal(text) }
    self.init(values: [], id: id)
  }

  private static func id(_ item: JSONValue, in layer: ServedLayer) -> FeatureID? {
    switch item {
    case .integer(let number) where !layer.hasTextIDs: .integer(number)
    case .text(let text) where layer.hasTextIDs: .text(text)
    default: nil
    }
  }

  private static func refusal(_ text: String) -> FieldpackError {
    FieldpackError(
      .invalidArgument,
      "'\(text)' is no place in this list. Try: the link 'next' of a page as it is")
  }

  private static func value(_ item: JSONValue, of column: String, in layer: ServedLayer) -> Value? {
    let type = layer.valueType(of: column)
    switch item {
    case .null: return .null
    case .integer(let number): return Value.integer(number).converted(to: type)
    case .real(let number): return Value.real(number).converted(to: type)
    case .boolean(let flag): return .boolean(flag)
    case .text(let text): return Value.text(text).converted(to: type)
    default: return nil
    }
  }

  /// The text for a link: the id alone where features are sorted by it.
  var text: String {
    guard !values.isEmpty else { return "\(id)" }
    return Base64.encode(
      JSONValue.array(values.map(Self.json) + [Self.json(id.columnValue)]).text.utf8)
  }

  private static func json(_ value: Value) -> JSONValue {
    switch value {
    case .null, .blob: .null
    case .boolean(let flag): .boolean(flag)
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    default: .text(value.plainText)
    }
  }

  /// The features behind this one. NULL comes first where values ascend, and last where they descend.
  func filter(_ order: [Order], id column: String) -> Filter {
    var filter = Filter.compare(.column(column), .greater, .literal(id.columnValue))
    for (order, value) in zip(order, values).reversed() {
      let operand = Operand.column(order.column)
      let same: Filter =
        value == .null ? .isNull(operand) : .compare(operand, .equal, .literal(value))
      var behind: Filter?
      switch (value, order.isDescending) {
      case (.null, false): behind = .not(.isNull(operand))
      case (.null, true): behind = nil
      case (_, false): behind = .compare(operand, .greater, .literal(value))
      case (_, true): behind = .compare(operand, .less, .literal(value)) || .isNull(operand)
      }
      filter = behind.map { $0 || (same && filter) } ?? (same && filter)
    }
    return filter
  }
}

extension FeatureID {
  /// What the column of the id holds.
  var columnValue: Value {
    switch self {
    case .integer(let number): .integer(number)
    case .text(let text): .text(text)
    }
  }
}
