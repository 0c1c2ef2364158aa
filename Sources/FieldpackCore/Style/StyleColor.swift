/// A colour as styles name it.
///
/// Read from `#rgb`, `#rrggbb`, `rgb(r, g, b)`, `rgba(r, g, b, a)` and the seventeen names of
/// CSS 2.1, in any case; written as `#rrggbb`, or `rgba(…)` where it is not opaque.
public struct StyleColor: Hashable, Sendable, LosslessStringConvertible {
  public var red: UInt8
  public var green: UInt8
  public var blue: UInt8
  /// The opacity from 0, which is invisible, to 1.
  public var opacity: Double

  public init(red: UInt8, green: UInt8, blue: UInt8, opacity: Double = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.opacity = opacity
  }

  /// Reads a colour; `nil` where the text is no colour.
  public init?(_ description: String) {
    let text = description.lowercased()
    if let code = Self.names[text] {
      self.init(code: code)
    } else if text.hasPrefix("#") {
      self.init(hex: text.utf8.dropFirst())
    } else {
      self.init(function: text)
    }
  }

  private init(code: UInt32) {
    self.init(
      red: UInt8(code >> 16 & 255), green: UInt8(code >> 8 & 255), blue: UInt8(code & 255))
  }

  private init?(hex digits: Substring.UTF8View.SubSequence) {
    guard digits.count == 3 || digits.count == 6 else { return nil }
    var code: UInt32 = 0
    for digit in digits {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
      code = code << 4 | UInt32(value)
      if digits.count == 3 { code = code << 4 | UInt32(value) }
    }
    self.init(code: code)
  }

  private init?(function text: String) {
    guard text.hasSuffix(")"), let open = text.firstIndex(of: "(") else { return nil }
    let name = text[..<open]
    let parts = text[text.index(after: open)...].dropLast().split(
      separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { Double($0.filter { $0 != " " }) }
    guard numbers.count == parts.count, numbers.count == (name == "rgba" ? 4 : 3),
      name == "rgb" || name == "rgba", numbers.prefix(3).allSatisfy({ (0...255).contains($0) }),
      numbers.count == 3 || (0...1).contains(numbers[3])
    else { return nil }
    let channels = numbers.prefix(3).map { UInt8($0.rounded()) }
    self.init(
      red: channels[0], green: channels[1], blue: channels[2],
      opacity: numbers.count == 4 ? numbers[3] : 1)
  }

  public var description: String {
    if opacity < 1 { return "rgba(\(red), \(green), \(blue), \(opacity))" }
    return hex
  }

  /// The colour as `#rrggbb`, without its opacity.
  public var hex: String {
    "#"
      + [red, green, blue].map { channel in
        let digits = String(channel, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
  }

  private static let names: [String: UInt32] = [
    "aqua": 0x00FFFF, "black": 0x000000, "blue": 0x0000FF, "fuchsia": 0xFF00FF, "gray": 0x808080,
    "green": 0x008000, "lime": 0x00FF00, "maroon": 0x800000, "navy": 0x000080, "olive": 0x808000,
    "orange": 0xFFA500, "purple": 0x800080, "red": 0xFF0000, "silver": 0xC0C0C0,
    "teal": 0x008080, "white": 0xFFFFFF, "yellow": 0xFFFF00,
  ]
}
