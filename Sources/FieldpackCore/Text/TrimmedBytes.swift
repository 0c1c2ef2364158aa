/// `text` without blanks, tabs and line ends at its ends.
package func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
  func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }
  var start = 0
  var end = text.count
  while start < end, isSpace(text[start]) { start += 1 }
  while end > start, isSpace(text[end - 1]) { end -= 1 }
  return UnsafeBufferPointer(rebasing: text[start..<end])
}
