extension String {
  /// Bytes as hexadecimal digits in lower case.
  package init(hex bytes: some Sequence<UInt8>) {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    self.init(decoding: text, as: UTF8.self)
  }
}
