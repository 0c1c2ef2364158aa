import FieldpackCore

/// `column=VALUE` of `--set`.
struct Assignment: Hashable, Sendable {
  let column: String
  private let text: String

  init(_ text: String) throws(ValueError) {
    guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
      throw ValueError("is no column=VALUE")
    }
    column = String(text[..<sign]).trimmed
    self.text = String(text[text.index(after: sign)...])
  }

  /// What the column is set to: NULL, a text in quotes, a value of the column's type, or
  /// arithmetic of CQL2. A column of texts takes what it is given as it is.
  func operand(_ type: ColumnType) throws(FieldpackError) -> Operand {
    let trimmed = text.trimmed
    if trimmed.uppercased() == "NULL" { return .literal(.null) }
    if trimmed.count > 1, trimmed.hasPrefix("'"), trimmed.hasSuffix("'") {
      return .literal(.text(String(trimmed.dropFirst().dropLast()).replacing("''", with: "'")))
    }
    switch type {
    case .text, .json, .blob, .other: return .literal(.text(text))
    default: break
    }
    if let value = Value.text(trimmed).converted(to: type), type.value(value) != .text(trimmed) {
      return .literal(value)
    }
    return try arithmetic(trimmed, type)
  }

  private func arithmetic(
    _ text: String, _ type: ColumnType
  ) throws(FieldpackError) -> Operand {
    // The parser reads conditions, and this one has the expression on its left side.
    if case .compare(let operand, .equal, .literal(.integer(0)))? = try? Filter(cql2: "\(text) = 0")
    {
      return operand
    }
    throw FieldpackError(
      .invalidArgument,
      "--set \(column)='\(text)' is neither a value of the column, which is \(type.sql), nor "
        + "arithmetic such as \(column) * 2")
  }
}

extension StringProtocol {
  /// Without the spaces at both ends.
  fileprivate var trimmed: String {
    let start = drop { $0 == " " }
    return String(String(start.reversed()).drop { $0 == " " }.reversed())
  }
}

extension ValueForm where Value == Assignment {
  static var assignment: ValueForm {
    ValueForm("column=VALUE", completion: .column) { (text) throws(ValueError) in
      try Assignment(text)
    }
  }
}
