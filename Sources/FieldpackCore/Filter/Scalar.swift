/// A value as conditions compare it.
package enum Scalar: Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
  /// A moment in milliseconds since 1970 in UTC.
  case moment(Int64)

  package init(_ value: Value) {
    switch value {
    case .null: self = .null
    case .boolean(let flag): self = .integer(flag ? 1 : 0)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = number.isNaN ? .null : .real(number)
    case .text(let text): self = .text(text)
    case .blob(let bytes): self = .blob(bytes)
    case .date(let date): self = .moment(date.startOfDay.milliseconds)
    case .dateTime(let instant): self = .moment(instant.milliseconds)
    }
  }

  package init(_ id: FeatureID) {
    switch id {
    case .integer(let number): self = .integer(number)
    case .text(let text): self = .text(text)
    }
  }

  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The moment that a text names; every other value as it is.
  package var asMoment: Scalar {
    guard case .text(var text) = self else { return self }
    let moment = text.withUTF8 { DateTimeParser.moment($0) }
    return moment.map { .moment($0.milliseconds) } ?? self
  }

  /// -1, 0 or 1 where this value is less than, equal to or greater than the other; `nil` where they
  /// do not compare.
  func order(to other: Scalar) -> Int? {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): order3(a, b)
    case (.real(let a), .real(let b)): order3(a, b)
    case (.integer(let a), .real(let b)): order3(a, b)
    case (.real(let a), .integer(let b)): -order3(b, a)
    case (.text(let a), .text(let b)): order3(a.utf8, b.utf8)
    case (.blob(let a), .blob(let b)): order3(a, b)
    case (.moment(let a), .moment(let b)): order3(a, b)
    default: nil
    }
  }
}

/// A value, and whether it makes a comparison temporal.
package struct Comparand {
  package var scalar: Scalar
  package var isTemporal: Bool

  package init(scalar: Scalar, isTemporal: Bool = false) {
    self.scalar = scalar
    self.isTemporal = isTemporal
  }

  package init(_ value: Value) {
    scalar = Scalar(value)
    switch value {
    case .date, .dateTime: isTemporal = true
    default: isTemporal = false
    }
  }
}

extension Comparison {
  /// Whether the comparison holds for two values in this order: -1, 0 or 1.
  private func holds(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }

  /// Whether the comparison holds between two values; `nil` stands for NULL.
  package func answer(_ a: Comparand, _ b: Comparand) -> Bool? {
    let isTemporal = a.isTemporal || b.isTemporal
    let left = isTemporal ? a.scalar.asMoment : a.scalar
    let right = isTemporal ? b.scalar.asMoment : b.scalar
    return left.order(to: right).map { holds($0) }
  }
}

private func order3<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

/// Compares exactly; converting an integer beyond 2^53 to a double would round it.
private func order3(_ a: Int64, _ b: Double) -> Int {
  if b >= 0x1p63 { return -1 }
  if b < -0x1p63 { return 1 }
  let whole = b.rounded(.towardZero)
  let order = order3(a, Int64(whole))
  return order != 0 ? order : order3(whole, b)
}

private func order3(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
  var other = b.makeIterator()
  for byte in a {
    guard let next = other.next() else { return 1 }
    if byte != next { return byte < next ? -1 : 1 }
  }
  return other.next() == nil ? 0 : -1
}

/// A `LIKE` pattern: `%` stands for any run of characters, `_` for any character, and `\` makes the
/// next character stand for itself.
package struct LikePattern: Sendable {
  package enum Element: Equatable, Sendable {
    case anyRun
    case anyCharacter
    case character(Unicode.Scalar)
  }

  package private(set) var elements: [Element] = []

  package init(_ pattern: String, folding: [FilterFunction] = []) {
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      switch scalar {
      case _ where isEscaped:
        elements.append(.character(scalar))
        isEscaped = false
      case "\\": isEscaped = true
      case "%": if elements.last != .anyRun { elements.append(.anyRun) }
      case "_": elements.append(.anyCharacter)
      default: elements.append(.character(scalar))
      }
    }
    // A backslash at the end of the pattern stands for itself.
    if isEscaped { elements.append(.character("\\")) }
    for function in folding.reversed() { fold(by: function) }
  }

  /// Folds the characters between wildcards; the wildcards stay.
  private mutating func fold(by function: FilterFunction) {
    var folded: [Element] = []
    for element in elements {
      guard case .character(let scalar) = element else {
        folded.append(element)
        continue
      }
      folded += function.folding(String(scalar)).unicodeScalars.map { .character($0) }
    }
    elements = folded
  }

  package func matches(_ text: String) -> Bool { elements.matches(text) }
}

extension LikePattern.Element: WildcardToken {
  var isAnyText: Bool { self == .anyRun }

  func matches(_ scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .anyRun: false
    case .anyCharacter: true
    case .character(let own): own == scalar
    }
  }
}
