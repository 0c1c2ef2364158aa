/// The SHA-256 digest of FIPS 180-4.
package struct SHA256: Sendable {
  /// The digest of `bytes` as 64 hexadecimal digits in lower case.
  package static func hex(_ bytes: [UInt8]) -> String { String(hex: digest(bytes)) }

  /// The 32 bytes of the digest.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var state = SHA256()
    bytes.withUnsafeBytes { state.update($0) }
    return state.digest()
  }

  private var words: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  private var schedule = [UInt32](repeating: 0, count: 64)
  /// How many bytes came so far, and those of them that fill no block.
  private var count = 0
  private var rest: [UInt8] = []

  package init() {}

  /// Takes the next bytes of a message that comes in pieces.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    count += bytes.count
    var bytes = bytes[...]
    if !rest.isEmpty {
      let missing = bytes.prefix(64 - rest.count)
      rest.append(contentsOf: missing)
      bytes = bytes.dropFirst(missing.count)
      guard rest.count == 64 else { return }
      let block = rest
      rest = []
      block.withUnsafeBytes { take($0) }
    }
    while bytes.count >= 64 {
      take(UnsafeRawBufferPointer(rebasing: bytes.prefix(64)))
      bytes = bytes.dropFirst(64)
    }
    rest.append(contentsOf: bytes)
  }

  /// The 32 bytes of the digest of all bytes so far.
  package func digest() -> [UInt8] {
    var state = self
    let tail = paddedBlocks(rest, (UInt64(count) &* 8).bigEndian)
    for start in stride(from: 0, to: tail.count, by: 64) {
      tail.withUnsafeBytes { state.take(UnsafeRawBufferPointer(rebasing: $0[start..<start + 64])) }
    }
    return state.words.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - $0 * 8)) }
    }
  }

  private mutating func take(_ block: UnsafeRawBufferPointer) {
    expand(block)
    var (a, b, c, d) = (words[0], words[1], words[2], words[3])
    var (e, f, g, h) = (words[4], words[5], words[6], words[7])
    Self.constants.withUnsafeBufferPointer { constants in
      for round in 0..<64 {
        let sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
        let choice = (e & f) ^ (~e & g)
        let first = h &+ sum1 &+ choice &+ constants[round] &+ schedule[round]
        let sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
        let majority = (a & b) ^ (a & c) ^ (b & c)
        (h, g, f, e) = (g, f, e, d &+ first)
        (d, c, b, a) = (c, b, a, first &+ sum0 &+ majority)
      }
    }
    for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { words[index] &+= value }
  }

  private mutating func expand(_ block: UnsafeRawBufferPointer) {
    for index in 0..<16 {
      schedule[index] = (0..<4).reduce(0) { $0 << 8 | UInt32(block[index * 4 + $1]) }
    }
    for index in 16..<64 {
      let (early, late) = (schedule[index - 15], schedule[index - 2])
      let small0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >> 3)
      let small1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >> 10)
      schedule[index] = schedule[index - 16] &+ small0 &+ schedule[index - 7] &+ small1
    }
  }

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]
}

/// The last block or two of a message: its rest, a one bit, zeros, and its length in bits as that
/// number lies in memory.
func paddedBlocks(_ rest: some Collection<UInt8>, _ bits: UInt64) -> [UInt8] {
  var tail = Array(rest) + [0x80]
  while tail.count % 64 != 56 { tail.append(0) }
  return tail + withUnsafeBytes(of: bits) { Array($0) }
}

private func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
  word >> count | word << (32 - count)
}
