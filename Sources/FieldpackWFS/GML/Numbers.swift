import FieldpackCore

/// Reads numbers of XML, in any locale.
enum Numbers {
  /// Numbers between white space; `nil` where one of the words is none.
  static func list(_ text: String) -> [Double]? {
    var numbers: [Double] = []
    var text = text
    let isWhole = text.withUTF8 { bytes in
      var index = 0
      while true {
        while index < bytes.count, isSpace(bytes[index]) { index += 1 }
        guard index < bytes.count else { return true }
        let start = index
        while index < bytes.count, !isSpace(bytes[index]) { index += 1 }
        let word = UnsafeBufferPointer(rebasing: bytes[start..<index])
        guard let number = NumberParser.double(word) else { return false }
        numbers.append(number)
      }
    }
    return isWhole ? numbers : nil
  }

  static func number(_ text: some StringProtocol) -> Double? {
    guard let numbers = list(String(text)), numbers.count == 1 else { return nil }
    return numbers[0]
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D
  }
}
