/// What a condition compares: a column, a literal, or an expression of these.
///
/// An interval may stand only in temporal conditions, a list only in conditions on arrays.
public enum Operand: Hashable, Sendable {
  case column(String)
  case literal(Value)
  indirect case arithmetic(Operand, Arithmetic, Operand)
  case call(FilterFunction, [Operand])
  /// 1, 0 or NULL where the condition is true, false or NULL.
  case condition(Filter)
  /// The time from one moment to another, both included; a bound that is `nil` is an open end.
  indirect case interval(Operand?, Operand?)
  case list([Operand])
}

/// A function of operands, with its name in CQL2.
public enum FilterFunction: String, Hashable, Sendable, CaseIterable {
  /// Removes the difference of case, see ``TextFolding/cases(_:)``.
  case casei = "CASEI"
  /// Removes accents, see ``TextFolding/accents(_:)``.
  case accenti = "ACCENTI"

  /// The function's result; NULL where the argument is not a text.
  package func apply(_ arguments: [Scalar]) -> Scalar {
    guard arguments.count == 1, case .text(let text) = arguments[0] else { return .null }
    return .text(folding(text))
  }

  /// The text without the differences that the function ignores.
  package func folding(_ text: String) -> String {
    switch self {
    case .casei: TextFolding.cases(text)
    case .accenti: TextFolding.accents(text)
    }
  }
}

extension Operand {
  /// Whether the value is the same for every row.
  package var isConstant: Bool {
    switch self {
    case .column, .condition, .interval, .list: false
    case .literal: true
    case .arithmetic(let a, _, let b): a.isConstant && b.isConstant
    case .call(_, let arguments): arguments.allSatisfy(\.isConstant)
    }
  }

  /// The value, where it is the same for every row. Instants, dates and booleans keep their type.
  package var constant: Value? {
    if case .literal(let value) = self { return value }
    guard isConstant else { return nil }
    return constantScalar.value
  }

  private var constantScalar: Scalar {
    switch self {
    case .literal(let value): Scalar(value)
    case .arithmetic(let a, let operation, let b):
      operation.apply(a.constantScalar, b.constantScalar)
    case .call(let function, let arguments): function.apply(arguments.map(\.constantScalar))
    default: .null
    }
  }

  /// Calls `body` with the operand, then with every operand in it, except those inside conditions.
  func visit(_ body: (Operand) -> Void) {
    body(self)
    switch self {
    case .column, .literal, .condition: break
    case .arithmetic(let a, _, let b):
      a.visit(body)
      b.visit(body)
    case .call(_, let operands), .list(let operands):
      for operand in operands { operand.visit(body) }
    case .interval(let start, let end):
      start?.visit(body)
      end?.visit(body)
    }
  }
}

extension Operand {
  /// The error for an interval or a list where a single value is wanted.
  package var isNoValue: FieldpackError {
    if case .interval = self {
      return FieldpackError(
        .invalidArgument, "an INTERVAL stands in a temporal function such as T_DURING")
    }
    return FieldpackError(
      .invalidArgument, "an array stands in an array function such as A_CONTAINS")
  }
}
