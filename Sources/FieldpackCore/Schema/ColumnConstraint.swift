/// What the values of a column may be, as the Schema extension of GeoPackage states it.
///
///     ColumnDefinition("state", .text(), constraint: .oneOf("new", "known", named: "states"))
///
/// NULL is always allowed here; whether a column may be NULL is the table's own rule. Columns that
/// share a name share the constraint.
public struct ColumnConstraint: Hashable, Sendable {
  /// A value of an enumeration.
  public struct Member: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The value as text; a number equals the text of its digits.
    public var value: String
    public var description: String?

    public init(_ value: String, description: String? = nil) {
      self.value = value
      self.description = description
    }

    public init(stringLiteral value: String) { self.init(value) }
  }

  /// An end of a range.
  public struct Bound: Hashable, Sendable {
    /// The bound's value: a number, a date or an instant.
    public var value: Value
    public var isInclusive: Bool

    public init(_ value: Value, isInclusive: Bool = true) {
      self.value = value
      self.isInclusive = isInclusive
    }
  }

  public enum Rule: Hashable, Sendable {
    case oneOf([Member])
    /// Numbers in a range, or dates and instants where the bounds are dates or instants.
    case range(from: Bound?, to: Bound?)
    /// A pattern of SQLite's `GLOB`: `*`, `?`, `[a-z]` and `[^a-z]`, case-sensitive.
    case glob(String)
  }

  /// The name by which several columns share the constraint; written in lower case, as the standard
  /// asks.
  public var name: String
  public var rule: Rule
  /// What a range or pattern means; the members of an enumeration have their own descriptions.
  public var description: String?

  public init(_ name: String, _ rule: Rule, description: String? = nil) {
    self.name = name
    self.rule = rule
    self.description = description
  }

  public static func oneOf(_ members: Member..., named name: String) -> ColumnConstraint {
    ColumnConstraint(name, .oneOf(members))
  }

  /// Numbers from the lower to the upper bound, both included.
  public static func range(
    _ range: ClosedRange<Double>, named name: String
  ) -> ColumnConstraint {
    ColumnConstraint(
      name,
      .range(from: Bound(.real(range.lowerBound)), to: Bound(.real(range.upperBound))))
  }

  public static func glob(_ pattern: String, named name: String) -> ColumnConstraint {
    ColumnConstraint(name, .glob(pattern))
  }

  /// Whether a column with this constraint may hold `value`. For many values, make one
  /// ``ConstraintTest``.
  public func allows(_ value: Value) -> Bool { ConstraintTest(self).allows(value) }

  /// What the constraint allows, in words: `one of 'new', 'known'`, `at least 1 and below 10`, or
  /// `texts like '[1-2]*'`.
  public var summary: String {
    switch rule {
    case .oneOf(let members):
      let shown = members.prefix(12).map { "'\($0.value)'" }.joined(separator: ", ")
      let more = members.count - 12
      return "one of \(shown)" + (more > 0 ? " and \(more) more" : "")
    case .range(let low, let high):
      let ends = [
        low.map { ($0.isInclusive ? "at least " : "above ") + $0.value.plainText },
        high.map { ($0.isInclusive ? "at most " : "below ") + $0.value.plainText },
      ].compactMap { $0 }
      return ends.isEmpty ? "any number" : ends.joined(separator: " and ")
    case .glob(let pattern): return "texts like '\(pattern)'"
    }
  }
}

/// A constraint prepared for testing many values.
public struct ConstraintTest: Sendable {
  public let constraint: ColumnConstraint
  private let test: Test

  private enum Test: Sendable {
    case members(texts: Set<[UInt8]>, numbers: Set<Double>)
    case range(from: (Measure, Bool)?, to: (Measure, Bool)?)
    case pattern(GlobPattern)
  }

  public init(_ constraint: ColumnConstraint) {
    self.constraint = constraint
    switch constraint.rule {
    case .oneOf(let members):
      test = .members(
        texts: Set(members.map { Array($0.value.utf8) }),
        numbers: Set(members.compactMap { Measure(number: $0.value)?.double }))
    case .range(let low, let high):
      func end(_ bound: ColumnConstraint.Bound?) -> (Measure, Bool)? {
        bound.flatMap { bound in Measure(bound.value).map { ($0, bound.isInclusive) } }
      }
      test = .range(from: end(low), to: end(high))
    case .glob(let pattern): test = .pattern(GlobPattern(pattern))
    }
  }

  /// Whether the constraint allows a value, given as it is stored.
  public func allows(_ value: Value) -> Bool {
    if value.isNull { return true }
    switch test {
    case .members(let texts, let numbers):
      if let number = Measure(storedNumber: value)?.double { return numbers.contains(number) }
      if case .blob = value { return false }
      return texts.contains(Array(value.plainText.utf8))
    case .range(let low, let high):
      guard let measure = Measure(value) else { return false }
      if let (bound, isInclusive) = low {
        guard bound.precedes(measure, orEquals: isInclusive) else { return false }
      }
      if let (bound, isInclusive) = high {
        guard measure.precedes(bound, orEquals: isInclusive) else { return false }
      }
      return true
    case .pattern(let pattern):
      if case .blob = value { return false }
      return pattern.matches(value.plainText)
    }
  }
}

/// A value that ranges compare: a number, or a moment in milliseconds since 1970.
private enum Measure: Sendable {
  case number(Value)
  case moment(Int64)

  init?(_ value: Value) {
    if let number = Measure(storedNumber: value) {
      self = number
      return
    }
    guard case .text(var text) = value else {
      switch value {
      case .date(let day): self = .moment(day.startOfDay.milliseconds)
      case .dateTime(let instant): self = .moment(instant.milliseconds)
      default: return nil
      }
      return
    }
    if let number = Measure(number: text) {
      self = number
    } else if let moment = text.withUTF8({ DateTimeParser.moment($0) }) {
      self = .moment(moment.milliseconds)
    } else {
      return nil
    }
  }

  /// The measure of a value that is stored as a number; `nil` for all others.
  init?(storedNumber value: Value) {
    switch value {
    case .boolean(let flag): self = .number(.integer(flag ? 1 : 0))
    case .integer: self = .number(value)
    case .real(let number) where !number.isNaN: self = .number(value)
    default: return nil
    }
  }

  /// The measure of a text that is a decimal number; other forms that Swift reads as numbers, such
  /// as `0x1p3`, are refused.
  init?(number text: String) {
    let isPlain = text.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "+"), UInt8(ascii: "e"), UInt8(ascii: "E"):
        true
      default: false
      }
    }
    guard isPlain else { return nil }
    if let integer = Int64(text) {
      self = .number(.integer(integer))
    } else if let real = Double(text) {
      self = .number(.real(real))
    } else {
      return nil
    }
  }

  var double: Double? {
    switch self {
    case .number(.integer(let value)): Double(value)
    case .number(.real(let value)): value
    default: nil
    }
  }

  func precedes(_ other: Measure, orEquals: Bool) -> Bool {
    switch (self, other) {
    case (.number(let a), .number(let b)):
      orEquals ? !b.sorts(before: a) : a.sorts(before: b)
    case (.moment(let a), .moment(let b)): orEquals ? a <= b : a < b
    default: false
    }
  }
}

extension Value {
  /// The value as text without quotes and without shortening; a blob is described by its size.
  package var plainText: String {
    switch self {
    case .null: "NULL"
    case .boolean(let flag): flag ? "1" : "0"
    case .integer(let number): number.description
    case .real(let number): number.description
    case .text(let text): text
    case .blob(let bytes): "a blob of \(bytes.count) bytes"
    case .date(let day): day.description
    case .dateTime(let instant): instant.description
    }
  }
}
