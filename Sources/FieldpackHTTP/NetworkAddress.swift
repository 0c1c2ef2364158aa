#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Addresses of machines in digits, and whether they belong to the internet at large, by the registries of
/// special addresses of RFC 6890.
package enum NetworkAddress {
  /// Those that do not: the first bytes of an address, and how many of their bits count.
  private static let special4: [([UInt8], Int)] = [
    ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12),
    ([192, 0, 0], 24), ([192, 168], 16), ([198, 18], 15), ([224], 3),
  ]
  /// Of version 6 all of the internet begins with the bits 001.
  private static let public6: ([UInt8], Int) = ([0x20], 3)
  /// Addresses of version 6 that hold one of version 4, and at which byte: mapped, translated by
  /// NAT64, and 6to4.
  private static let embedded: [([UInt8], Int, at: Int)] = [
    ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96, 12),
    ([0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96, 12), ([0x20, 0x02], 16, 2),
  ]

  /// - Parameter text: an address of version 4 or 6 in digits, maybe with a zone.
  /// - Returns: `false` for others, such as 127.0.0.1 and 192.168.1.1, and for what is no address.
  static func isPublic(_ text: String) -> Bool {
    if let bytes = version4(text) { return isPublic4(bytes) }
    let plain = String(text.prefix { $0 != "%" })
    guard let bytes = version6(plain) else { return false }
    for (prefix, bits, offset) in embedded where begins(bytes, with: prefix, bits) {
      return isPublic4(Array(bytes[offset..<offset + 4]))
    }
    return begins(bytes, with: public6.0, public6.1)
  }

  private static func isPublic4(_ bytes: [UInt8]) -> Bool {
    !special4.contains { begins(bytes, with: $0.0, $0.1) }
  }

  private static func begins(_ bytes: [UInt8], with prefix: [UInt8], _ bits: Int) -> Bool {
    prefix.indices.allSatisfy { index in
      let counted = min(8, bits - index * 8)
      return (bytes[index] ^ prefix[index]) >> UInt8(8 - counted) == 0
    }
  }

  /// The bytes of an address of version 4; `nil` for other texts.
  package static func version4(_ text: String) -> [UInt8]? { bytes(text, AF_INET, 4) }

  /// The bytes of an address of version 6; `nil` for other texts.
  package static func version6(_ text: String) -> [UInt8]? { bytes(text, AF_INET6, 16) }

  private static func bytes(_ text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }
}
