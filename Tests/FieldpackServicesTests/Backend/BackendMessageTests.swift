import FieldpackCore
import Testing

@testable import FieldpackServices

@Suite struct BackendMessageTests {
  /// The same numbers at each run (SplitMix64).
  private struct Sequence64: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
      return mixed ^ mixed >> 31
    }
  }

  private static let numbered = "080712122f6465766963652f44312d7265706c79546f18f403"
  private static let named =
    "0a064d4f42494c4510e081ee95ad2b1a122f6465766963652f44312d7265706c79546f"
    + "220e76312f434f4e4649475f46554c4c"

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...($0 + 1)]), radix: 16)
    }
  }

  private func read(
    _ bytes: [UInt8], assuming generation: WireGeneration = .numbered, limit: Int = 1 << 20
  ) throws -> (BackendMessage, WireGeneration) {
    var generation = generation
    let message = try BackendMessage(bytes, &generation, limit: limit)
    return (message, generation)
  }

  @Test func `messages of both generations are written and read byte for byte`() throws {
    let first = BackendMessage(correlation: 7, replyTo: "/device/D1-replyTo", action: .configFull)
    var second = first
    second.correlation = 1_489_594_188_000
    #expect(String(hex: first.bytes(.numbered)) == Self.numbered)
    #expect(String(hex: second.bytes(.named)) == Self.named)
    for assumed in WireGeneration.allCases {
      #expect(try read(Self.bytes(Self.numbered), assuming: assumed) == (first, .numbered))
      #expect(try read(Self.bytes(Self.named), assuming: assumed) == (second, .named))
    }
  }

  @Test(arguments: WireGeneration.allCases)
  func `all fields come back`(generation: WireGeneration) throws {
    var message = BackendMessage(
      correlation: 2_147_483_647, replyTo: "/device/ä-replyTo", action: .createFeature,
      payload: #"{"a":1}"#, token: "a.b.c")
    if generation == .numbered { message.time = Instant(milliseconds: -1) }
    #expect(try read(message.bytes(generation), assuming: generation) == (message, generation))
  }

  @Test func `fields that are absent stay so, in whatever way they are`() throws {
    for generation in WireGeneration.allCases {
      #expect(try read([], assuming: generation) == (BackendMessage(), generation))
      let none = BackendMessage(correlation: -1, payload: #""{}""#)
      #expect(
        try read(none.bytes(generation), assuming: generation) == (BackendMessage(), generation))
    }
    // Four fields are all that the first messages have.
    let early = Self.bytes("0801" + "22027b7d")
    #expect(try read(early) == (BackendMessage(correlation: 1, payload: "{}"), .numbered))
  }

  @Test func `unknown fields, groups and actions are no mistake`() throws {
    // A varint, 8 bytes, a text, a group in a group, and 4 bytes, all of number 9; then action 999.
    let bytes = Self.bytes(
      "4805" + "490102030405060708" + "4a0141" + "4b4b4c4c" + "4d01020304" + "18e707")
    #expect(try read(bytes).0.action == BackendAction(number: 999))
    #expect(BackendAction(number: 999)?.description == "999")
    #expect(BackendAction(name: "v2/OTHER")?.description == "v2/OTHER")
    #expect(BackendAction(number: 0) == nil)
    #expect(BackendAction(number: 602) == .notificationInfo)
  }

  @Test(arguments: [
    ("08", "it ends in a number"), ("0affffffff0f", "a field is longer than the rest"),
    ("08ffffffffffffffffff02", "a number has more than 64 bits"),
    ("08ffffffffffffffffffff01", "a number has more than 64 bits"),
    ("0001", "a field has no number"), ("4c", "a group ends that is not open"),
    ("4f", "a field of unknown type 7"), ("4901", "it ends in a field"),
    (String(repeating: "4b", count: 33), "nested too deep"),
  ])
  func `broken bytes are told`(hex: String, reason: String) {
    let error = #expect(throws: FieldpackError.self) { try read(Self.bytes(hex)) }
    #expect(error?.message == "the message is no protobuf: \(reason)")
    #expect(error?.code == .invalidData)
  }

  @Test(arguments: [
    ("0801" + "2001", "field 4 of the message is no text"),
    ("0801" + "2201ff", "field 4 of the message is no UTF-8"),
    ("1001" + "0801", "field 1 of the message is no text"),
    ("1801" + "12" + "00" + "0a00", "field 1 of the message is no number"),
    ("0801" + "320908ffffffffffffff7f", "the time of the message is not in the years 1 to 9999"),
  ])
  func `fields of the wrong type are told`(hex: String, reason: String) {
    let error = #expect(throws: FieldpackError.self) { try read(Self.bytes(hex)) }
    #expect(error?.message == reason)
  }

  @Test func `a message above the limit is refused before it is read`() throws {
    let message = BackendMessage(correlation: 1, payload: String(repeating: "x", count: 90))
    _ = try read(message.bytes(.numbered), limit: 94)
    let error = #expect(throws: FieldpackError.self) {
      try read(message.bytes(.numbered), limit: 93)
    }
    #expect(error?.message == "the message has 94 bytes, more than the limit of 93")
  }

  @Test func `random changes give a message or an error, never a trap`() {
    var random = Sequence64(state: 21)
    let seeds = [Self.bytes(Self.numbered), Self.bytes(Self.named)]
    var counts = (read: 0, refused: 0)
    for round in 0..<20_000 {
      var bytes = seeds[round % 2]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes.insert(.random(in: 0...255, using: &random), at: place)
        default: if bytes.count > 1 { bytes.remove(at: place) }
        }
      }
      do {
        _ = try read(bytes)
        counts.read += 1
      } catch { counts.refused += 1 }
    }
    #expect(counts.read > 1000 && counts.refused > 1000)
  }
}
