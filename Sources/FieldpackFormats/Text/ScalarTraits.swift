import FieldpackCore

/// What the texts of one column have been so far; the column's type follows from it.
struct ScalarTraits: OptionSet {
  let rawValue: UInt8

  static let integer = ScalarTraits(rawValue: 1)
  static let real = ScalarTraits(rawValue: 2)
  static let boolean = ScalarTraits(rawValue: 4)
  static let date = ScalarTraits(rawValue: 8)
  /// A date and time with a zone and at most three digits of a second.
  static let dateTime = ScalarTraits(rawValue: 16)
  static let text = ScalarTraits(rawValue: 32)

  /// The one type that holds every value unchanged, else TEXT.
  var type: ColumnType {
    switch self {
    case .integer: .integer
    case .real, [.integer, .real]: .double
    case .boolean: .boolean
    case .date: .date
    case .dateTime: .dateTime
    default: .text()
    }
  }
}

/// One value as its text reads.
enum InferredValue {
  case integer(Int64)
  case real(Double)
  case boolean(Bool)
  case date
  case dateTime(Instant)
  case text

  /// What `bytes` are by their look alone.
  ///
  /// Integers print as they came: no leading zeros or plus, within 64 bits; other digits are text,
  /// so that `007` and a 30-digit number keep their digits. `true` and `false` are booleans.
  init(inferring bytes: UnsafeBufferPointer<UInt8>) {
    guard let first = bytes.first else {
      self = .text
      return
    }
    switch first {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
      self = Self.number(bytes) ?? Self.moment(bytes) ?? .text
    case UInt8(ascii: "t") where bytes.elementsEqual("true".utf8): self = .boolean(true)
    case UInt8(ascii: "f") where bytes.elementsEqual("false".utf8): self = .boolean(false)
    default: self = .text
    }
  }

  private static func number(_ bytes: UnsafeBufferPointer<UInt8>) -> InferredValue? {
    if let integer = NumberParser.canonicalInteger(bytes) { return .integer(integer) }
    let digits = bytes[0] == UInt8(ascii: "-") ? 1 : 0
    var next = digits
    while next < bytes.count, bytes[next] &- UInt8(ascii: "0") <= 9 { next += 1 }
    // Digits alone that are no canonical integer, and those with leading zeros, are codes.
    guard next < bytes.count || next == 2 && digits == 1 else { return nil }
    guard next - digits <= 1 || bytes[digits] != UInt8(ascii: "0") else { return nil }
    return NumberParser.double(bytes).map(InferredValue.real)
  }

  static func moment(_ bytes: UnsafeBufferPointer<UInt8>) -> InferredValue? {
    if bytes.count == 10 { return DateTimeParser.date(bytes) == nil ? nil : .date }
    guard let parsed = DateTimeParser.dateTime(bytes) else { return nil }
    return InferredValue(parsed)
  }

  /// `nil` where a DATETIME column cannot hold the moment.
  init?(_ parsed: DateTimeParser.DateTime) {
    guard parsed.hasZone, parsed.fractionDigits <= 3, InstantText.canWrite(parsed.instant) else {
      return nil
    }
    self = .dateTime(parsed.instant)
  }

  var trait: ScalarTraits {
    switch self {
    case .integer: .integer
    case .real: .real
    case .boolean: .boolean
    case .date: .date
    case .dateTime: .dateTime
    case .text: .text
    }
  }
}
