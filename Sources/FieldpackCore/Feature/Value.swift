/// How a value is stored.
public enum ValueKind: UInt8, Hashable, Sendable {
  case null, integer, real, text, blob
}

/// A value of an attribute.
public enum Value: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
  case date(CalendarDate)
  case dateTime(Instant)

  public var isNull: Bool { self == .null }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(stringLiteral value: String) { self = .text(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(nilLiteral: ()) { self = .null }
}

/// A Swift type that a column's values can be read and compared as.
public protocol AttributeValue: Sendable {
  var attributeValue: Value { get }
  init?(attributeValue: Value)
}

extension Int64: AttributeValue {
  public var attributeValue: Value { .integer(self) }
  public init?(attributeValue: Value) {
    guard case .integer(let value) = attributeValue else { return nil }
    self = value
  }
}

extension Int: AttributeValue {
  public var attributeValue: Value { .integer(Int64(self)) }
  public init?(attributeValue: Value) {
    guard case .integer(let value) = attributeValue else { return nil }
    self.init(exactly: value)
  }
}

extension Double: AttributeValue {
  public var attributeValue: Value { .real(self) }
  public init?(attributeValue: Value) {
    switch attributeValue {
    case .real(let value): self = value
    case .integer(let value): self = Double(value)
    default: return nil
    }
  }
}

extension String: AttributeValue {
  public var attributeValue: Value { .text(self) }
  public init?(attributeValue: Value) {
    guard case .text(let value) = attributeValue else { return nil }
    self = value
  }
}

extension Bool: AttributeValue {
  public var attributeValue: Value { .boolean(self) }
  public init?(attributeValue: Value) {
    guard case .boolean(let value) = attributeValue else { return nil }
    self = value
  }
}

extension Instant: AttributeValue {
  public var attributeValue: Value { .dateTime(self) }
  public init?(attributeValue: Value) {
    guard case .dateTime(let value) = attributeValue else { return nil }
    self = value
  }
}

extension CalendarDate: AttributeValue {
  public var attributeValue: Value { .date(self) }
  public init?(attributeValue: Value) {
    guard case .date(let value) = attributeValue else { return nil }
    self = value
  }
}
