import FieldpackCore
import Testing

@Suite struct FNV1aTests {
  /// Of the appendix of draft-eastlake-fnv.
  @Test(
    arguments: [
      ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8),
    ] as [(String, UInt64)])
  func `hashes the published texts`(text: String, value: UInt64) {
    var hash = FNV1a()
    for byte in text.utf8 { hash.update(byte) }
    #expect(hash.value == value)
  }
}
