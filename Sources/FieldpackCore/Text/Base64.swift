/// Base 64 of RFC 4648 section 4, written with padding.
public enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var output: [UInt8] = []
    var pending: UInt32 = 0
    var held = 0
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      held += 1
      if held == 3 {
        append(pending, digits: 4, to: &output)
        (pending, held) = (0, 0)
      }
    }
    if held > 0 {
      append(pending << (held == 1 ? 16 : 8), digits: held + 1, to: &output)
      output += Array(repeating: UInt8(ascii: "="), count: 3 - held)
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Base 64 for addresses (RFC 4648 section 5), without padding.
  package static func encodeForAddress(_ bytes: some Sequence<UInt8>) -> String {
    let text = encode(bytes).utf8.compactMap { sign -> UInt8? in
      switch sign {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: sign
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func append(_ group: UInt32, digits: Int, to output: inout [UInt8]) {
    for index in 0..<digits {
      output.append(alphabet[Int(group >> UInt32(18 - 6 * index) & 63)])
    }
  }

  /// The bytes that `text` encodes, or `nil` where it is not base 64.
  ///
  /// White space is skipped, padding may be missing, and `-` and `_` stand for `+` and `/`.
  public static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var decoder = Decoder()
    let bytes = Array(text)
    bytes.withUnsafeBufferPointer { decoder.append($0) }
    return decoder.finish()
  }

  /// Decodes text that comes in pieces, as ``decode(_:)`` decodes a whole one.
  package struct Decoder: Sendable {
    /// What the pieces so far encode.
    package private(set) var output: [UInt8] = []
    private var pending: UInt32 = 0
    private var bits = 0
    private var digits = 0
    private var padding = 0
    private var isBroken = false

    package init() {}

    package mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
      guard !isBroken else { return }
      for byte in text {
        switch byte {
        case UInt8(ascii: " "), 9, 10, 13: continue
        case UInt8(ascii: "="):
          padding += 1
          continue
        default: break
        }
        guard padding == 0, let digit = Base64.value(of: byte) else {
          isBroken = true
          return
        }
        pending = pending << 6 | digit
        bits += 6
        digits += 1
        if bits >= 8 {
          bits -= 8
          output.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
          pending &= (1 << UInt32(bits)) - 1
        }
      }
    }

    /// Takes what the pieces since the last call encode, so that it need not be kept.
    package mutating func takeOutput() -> [UInt8] {
      defer { output.removeAll() }
      return output
    }

    /// The bytes that were not taken, or `nil` where the pieces together are not base 64.
    package func finish() -> [UInt8]? {
      let isWhole = !isBroken && digits % 4 != 1 && pending == 0
      let isPadded = padding == 0 || (padding <= 2 && (digits + padding) % 4 == 0)
      return isWhole && isPadded ? output : nil
    }
  }

  private static func value(of byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
