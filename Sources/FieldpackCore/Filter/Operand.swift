/// What a condition compares: a column, a literal, or what is made of them.
///
/// An interval stands in temporal conditions only, a list in conditions on arrays only.
public enum Operand: Hashable, Sendable {
  case column(String)
  case literal(Value)
  indirect case arithmetic(Operand, Arithmetic, Operand)
  case call(FilterFunction, [Operand])
  /// 1, 0 or NULL as the condition is true, false or neither.
  case condition(Filter)
  /// From one moment to another, both included; `nil` is an end left open.
  indirect case interval(Operand?, Operand?)
  case list([Operand])
}

/// A function of operands, by its name in CQL2.
public enum FilterFunction: String, Hashable, Sendable, CaseIterable {
  /// The text without the difference of case, see ``TextFolding/cases(_:)``.
  case casei = "CASEI"
  /// The text without accents, see ``TextFolding/accents(_:)``.
  case accenti = "ACCENTI"

  /// NULL for everything but a text.
  func apply(_ arguments: [Scalar]) -> Scalar {
    guard arguments.count == 1, case .text(let text) = arguments[0] else { return .null }
    return .text(folding(text))
  }

  /// The text with the differences taken out that the function ignores.
  package func folding(_ text: String) -> String {
    switch self {
    case .casei: TextFolding.cases(text)
    case .accenti: TextFolding.accents(text)
    }
  }
}

extension Operand {
  /// Whether no row is needed to know the value.
  package var isConstant: Bool {
    switch self {
    case .column, .condition, .interval, .list: false
    case .literal: true
    case .arithmetic(let a, _, let b): a.isConstant && b.isConstant
    case .call(_, let arguments): arguments.allSatisfy(\.isConstant)
    }
  }

  /// The value, where no row is needed to know it; an instant, a date and a boolean stay what they
  /// are.
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

  /// Calls `body` with the operand, then with all operands in it; conditions in it are left out.
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
