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
  ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(stringLiteral value: String) { self = .text(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(nilLiteral: ()) { self = .null }
}

/// A Swift type that a column's values can be read, written and compared as.
public protocol AttributeValue: Sendable {
  var attributeValue: Value { get }
  init?(attributeValue: Value)
}

extension Value: AttributeValue {
  public var attributeValue: Value { self }
  public init?(attributeValue: Value) { self = attributeValue }
}

// Where a literal of attributes takes values of any type, the cases of `Value` are written as ever.
extension AttributeValue where Self == Value {
  @_disfavoredOverload public static var null: Value { Value.null }
  @_disfavoredOverload
  public static func boolean(_ value: Bool) -> Value { Value.boolean(value) }
  @_disfavoredOverload
  public static func integer(_ value: Int64) -> Value { Value.integer(value) }
  @_disfavoredOverload
  public static func real(_ value: Double) -> Value { Value.real(value) }
  @_disfavoredOverload
  public static func text(_ value: String) -> Value { Value.text(value) }
  @_disfavoredOverload
  public static func blob(_ value: [UInt8]) -> Value { Value.blob(value) }
  @_disfavoredOverload
  public static func date(_ value: CalendarDate) -> Value { Value.date(value) }
  @_disfavoredOverload
  public static func dateTime(_ value: Instant) -> Value { Value.dateTime(value) }
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
