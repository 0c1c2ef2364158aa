import FieldpackGeometry

/// What a shell can offer for a value.
indirect enum CompletionHint: Hashable, Sendable {
  case none
  case choices([String])
  /// Files with one of these extensions; any file where there are none.
  case files([String])
  case folder
  /// A file that layers, columns and stores are looked up in.
  case source([String])
  case store
  case layer
  case form
  case column
  case srs
  /// Values of a kind separated by commas, each with an optional `-` before it.
  case list(CompletionHint)
}

/// Why a text is no value, as the end of the sentence "'x' …".
struct ValueError: Error, Hashable, Sendable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// How the text of an option or argument becomes a value, and how the help shows it.
struct ValueForm<Value: Sendable>: Sendable {
  /// What stands for the value in the help, without brackets.
  let placeholder: String
  let completion: CompletionHint
  let read: @Sendable (String) throws(ValueError) -> Value

  init(
    _ placeholder: String, completion: CompletionHint = .none,
    read: @escaping @Sendable (String) throws(ValueError) -> Value
  ) {
    self.placeholder = placeholder
    self.completion = completion
    self.read = read
  }
}

extension ValueForm where Value == String {
  /// Any text that is not empty.
  static func text(
    _ placeholder: String, completion: CompletionHint = .none
  ) -> ValueForm {
    ValueForm(placeholder, completion: completion) { (text) throws(ValueError) -> String in
      guard !text.isEmpty else { throw ValueError("is empty") }
      return text
    }
  }

  /// A file, or `-` where the command says so.
  static func file(_ placeholder: String = "file", _ extensions: String...) -> ValueForm {
    text(placeholder, completion: .files(extensions))
  }

  /// One of a few words that need no type of their own.
  static func oneOf(_ placeholder: String, _ choices: [String]) -> ValueForm {
    ValueForm(placeholder, completion: .choices(choices)) { (text) throws(ValueError) -> String in
      guard choices.contains(text) else { throw .notAmong(choices, text) }
      return text
    }
  }
}

extension ValueForm where Value == Int {
  /// A whole number in `range`.
  static func integer(
    _ placeholder: String, in range: ClosedRange<Int> = Int.min...Int.max
  ) -> ValueForm {
    ValueForm(placeholder) { (text) throws(ValueError) -> Int in
      guard let value = Int(text) else { throw ValueError("is not a whole number") }
      guard range.contains(value) else { throw ValueError(outside(range)) }
      return value
    }
  }

  private static func outside(_ range: ClosedRange<Int>) -> String {
    if range.upperBound == Int.max { return "is less than \(range.lowerBound)" }
    if range.lowerBound == Int.min { return "is more than \(range.upperBound)" }
    return "is not between \(range.lowerBound) and \(range.upperBound)"
  }
}

extension ValueForm where Value == Double {
  /// A finite number of at least `minimum`.
  static func number(
    _ placeholder: String, atLeast minimum: Double = -.infinity
  ) -> ValueForm {
    ValueForm(placeholder) { (text) throws(ValueError) -> Double in
      let value = try finite(text)
      guard value >= minimum else { throw ValueError("is less than \(minimum)") }
      return value
    }
  }
}

extension ValueForm where Value: CaseIterable & RawRepresentable<String> {
  /// One of the cases, by its raw value.
  static func choice(_ placeholder: String) -> ValueForm {
    let choices = Value.allCases.map(\.rawValue)
    return ValueForm(placeholder, completion: .choices(choices)) {
      (text) throws(ValueError) -> Value in
      guard let value = Value(rawValue: text) else { throw .notAmong(choices, text) }
      return value
    }
  }
}

extension ValueForm where Value == [String] {
  /// Texts separated by commas.
  static func list(_ placeholder: String, of element: CompletionHint) -> ValueForm {
    ValueForm(placeholder, completion: .list(element)) { (text) throws(ValueError) -> [String] in
      let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard !parts.contains("") else { throw ValueError("has an empty part") }
      return parts
    }
  }
}

extension ValueForm where Value == SRS {
  /// `AUTHORITY:CODE`; PROJ strings are refused, since they can open local files.
  static var srs: ValueForm {
    ValueForm("EPSG:n", completion: .srs) { (text) throws(ValueError) -> SRS in
      // A number alone is a code of EPSG.
      let isCode =
        !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      guard let srs = SRS(isCode ? "EPSG:\(text)" : text) else {
        throw ValueError("is not an authority and a code such as EPSG:25832")
      }
      return srs
    }
  }
}

extension ValueForm where Value == Envelope {
  /// `west,south,east,north`; west may be greater than east, across the antimeridian.
  static var box: ValueForm {
    ValueForm("w,s,e,n") { (text) throws(ValueError) -> Envelope in
      let parts = text.split(separator: ",", omittingEmptySubsequences: false)
      guard parts.count == 4 else {
        throw ValueError("is not four numbers: west,south,east,north")
      }
      var numbers: [Double] = []
      for part in parts { numbers.append(try finite(part)) }
      guard numbers[1] <= numbers[3] else {
        throw ValueError("has its south above its north; the order is west,south,east,north")
      }
      return Envelope(minX: numbers[0], minY: numbers[1], maxX: numbers[2], maxY: numbers[3])
    }
  }
}

extension ValueForm where Value == Position {
  /// `longitude,latitude` in degrees.
  static var position: ValueForm {
    ValueForm("lon,lat") { (text) throws(ValueError) -> Position in
      let parts = text.split(separator: ",", omittingEmptySubsequences: false)
      guard parts.count == 2 else {
        throw ValueError("is not two numbers: longitude,latitude")
      }
      let (x, y) = (try finite(parts[0]), try finite(parts[1]))
      guard abs(x) <= 360, abs(y) <= 90 else {
        throw ValueError("is no longitude and latitude in degrees; longitude comes first")
      }
      return Position(x: x, y: y)
    }
  }
}

private func finite(_ text: some StringProtocol) throws(ValueError) -> Double {
  let trimmed = text.drop { $0 == " " }
  guard let value = Double(trimmed), value.isFinite else { throw ValueError("is not a number") }
  return value
}

extension ValueError {
  static func notAmong(_ choices: [String], _ text: String) -> ValueError {
    let list = choices.joined(separator: ", ")
    guard let near = Suggestion.nearest(to: text, among: choices) else {
      return ValueError("is none of \(list)")
    }
    return ValueError("is none of \(list). Try: \(near)")
  }
}
