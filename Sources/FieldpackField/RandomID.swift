/// Ids of 122 random bits.
public enum RandomID {
  /// A UUID of version 4 in capital letters (RFC 9562, 5.4).
  public static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return make(using: &generator)
  }

  static func make(using generator: inout some RandomNumberGenerator) -> String {
    let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    let digits = Array(hex(high) + hex(low))
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
      .joined(separator: "-")
  }

  private static func hex(_ value: UInt64) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
