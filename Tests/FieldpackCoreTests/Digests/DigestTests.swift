import Testing

@testable import FieldpackCore

@Suite struct DigestTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      String(repeating: "a", count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
    (
      "00000000-0000-0000-0000-000000000000-abcdefghij-1344352260",
      "f8d27bed75bd96014de63cad9951e1845beb28416cda478d7d2943b4f3346cae"
    ),
  ])
  func `SHA-256 digests are those of FIPS 180-4`(text: String, digest: String) {
    #expect(SHA256.hex(Array(text.utf8)) == digest)
  }

  @Test func `the digest of a message in pieces is that of the whole`() {
    let message = (0..<700).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    for size in [1, 7, 63, 64, 65, 128, 200] {
      var state = SHA256()
      for start in stride(from: 0, to: message.count, by: size) {
        message[start..<min(start + size, message.count)].withUnsafeBytes { state.update($0) }
        let soFar = Array(message.prefix(start + size))
        #expect(state.digest() == SHA256.digest(soFar))
      }
    }
  }

  /// RFC 1321, A.5.
  @Test(arguments: [
    ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
    ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
    (
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
      "d174ab98d277d9f5a5611c2c9f419d9f"
    ),
    (
      String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"
    ),
  ])
  func `MD5 digests are those of RFC 1321`(text: String, digest: String) {
    #expect(MD5.hex(Array(text.utf8)) == digest)
  }
}
