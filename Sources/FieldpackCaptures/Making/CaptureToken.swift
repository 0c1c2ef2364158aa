import FieldpackCore
public import FieldpackField

/// The name of a capture: 64 hexadecimal digits in lower case.
///
/// The SHA-256 digest of `<install>-<random>-<seconds>`: the identity of this installation, ten
/// letters and digits, and the whole seconds since 1970 when the capture was made.
public struct CaptureToken: Hashable, Sendable, CustomStringConvertible {
  /// The token as it stands in the names of folders and files.
  public let description: String

  /// Reads a token; `nil` where the text is none.
  public init?(_ text: String) {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
    guard text.utf8.count == 64,
      text.utf8.allSatisfy({ digits.contains($0) || letters.contains($0) })
    else { return nil }
    description = text
  }

  /// - Parameter random: `nil` leaves the part out, as the oldest programs did.
  public init(
    install: MachineIdentity, random: String? = CaptureToken.randomPart(), seconds: Int64
  ) {
    let middle = random.map { "-\($0)-" } ?? "-"
    description = SHA256.hex(Array("\(install.uuid)\(middle)\(seconds)".utf8))
  }

  /// Ten random letters and digits of ASCII.
  public static func randomPart() -> String {
    var generator = SystemRandomNumberGenerator()
    let characters = (0..<10).map { _ in alphabet[Int.random(in: 0..<62, using: &generator)] }
    return String(decoding: characters, as: UTF8.self)
  }

  private static let alphabet = Array(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
}
