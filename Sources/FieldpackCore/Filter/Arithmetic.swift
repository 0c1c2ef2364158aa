import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An operation on two numbers.
///
/// Answers NULL where an operand is NULL or not a number, for a division by zero, and where the
/// result is not a number, such as infinity minus infinity.
public enum Arithmetic: String, Hashable, Sendable, CaseIterable {
  /// The sum: an integer where both operands are integers and the sum does not overflow, else a
  /// real. Differences and products follow the same rule.
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  /// The quotient, always a real: `7 / 2` is 3.5.
  case divide = "/"
  /// The remainder of a division towards zero, with the sign of the dividend.
  case remainder = "%"
  /// The quotient of a division towards zero: `-7 DIV 2` is -3.
  case divideWhole = "DIV"
  /// The power, always a real.
  case power = "^"

  /// The result, the same in both evaluators of filters.
  package func apply(_ a: Scalar, _ b: Scalar) -> Scalar {
    if case .integer(let left) = a, case .integer(let right) = b,
      let result = applyExactly(left, right)
    {
      return result
    }
    guard let left = a.number, let right = b.number else { return .null }
    let result: Double
    switch self {
    case .add: result = left + right
    case .subtract: result = left - right
    case .multiply: result = left * right
    case .divide: result = right == 0 ? .nan : left / right
    case .remainder: result = right == 0 ? .nan : left.truncatingRemainder(dividingBy: right)
    case .divideWhole: result = right == 0 ? .nan : (left / right).rounded(.towardZero)
    case .power: result = pow(left, right)
    }
    return result.isNaN ? .null : .real(result)
  }

  /// The result in exact integers; `nil` where the result is a real.
  private func applyExactly(_ a: Int64, _ b: Int64) -> Scalar? {
    let (result, overflows): (Int64, Bool)
    switch self {
    case .add: (result, overflows) = a.addingReportingOverflow(b)
    case .subtract: (result, overflows) = a.subtractingReportingOverflow(b)
    case .multiply: (result, overflows) = a.multipliedReportingOverflow(by: b)
    case .remainder:
      if b == 0 { return .null }
      return .integer(b == -1 ? 0 : a % b)
    case .divideWhole:
      if b == 0 { return .null }
      (result, overflows) = a.dividedReportingOverflow(by: b)
    case .divide, .power: return nil
    }
    return overflows ? nil : .integer(result)
  }
}

extension Scalar {
  fileprivate var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    default: nil
    }
  }

  /// The scalar as a value; a moment becomes an instant.
  package var value: Value {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .blob(bytes)
    case .moment(let milliseconds): .dateTime(Instant(milliseconds: milliseconds))
    }
  }
}
