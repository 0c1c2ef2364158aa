import FieldpackCore
import FieldpackHTTP

/// The opening of a WebSocket connection (RFC 6455, 4.2).
enum WebSocketHandshake {
  /// Whether a request asks for a connection.
  static func isAsked(by request: ServerRequest) -> Bool {
    request.method == "GET" && has("websocket", in: request.fields["Upgrade"])
  }

  private static func has(_ word: String, in field: String?) -> Bool {
    (field ?? "").lowercased().split(separator: ",").contains { part in
      part.split(whereSeparator: \.isWhitespace) == [word[...]]
    }
  }

  /// The fields of the answer; `nil` for a request that is no opening of version 13.
  static func answer(to request: ServerRequest) -> HTTPFields? {
    guard isAsked(by: request), has("upgrade", in: request.fields["Connection"]),
      request.fields["Sec-WebSocket-Version"] == "13", request.body.isEmpty,
      let key = request.fields["Sec-WebSocket-Key"],
      Base64.decode(key.utf8)?.count == 16
    else { return nil }
    return ["Upgrade": "websocket", "Sec-WebSocket-Accept": accept(key)]
  }

  static func accept(_ key: String) -> String {
    Base64.encode(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
  }
}

/// SHA-1 (RFC 3174). The answer to a WebSocket's opening shows by this digest that the server has
/// understood the request; the digest protects nothing.
enum SHA1 {
  static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var message = bytes + [0x80]
    while message.count % 64 != 56 { message.append(0) }
    withUnsafeBytes(of: (UInt64(bytes.count) * 8).bigEndian) { message += $0 }
    var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    for start in stride(from: 0, to: message.count, by: 64) {
      take(message[start..<start + 64], into: &hash)
    }
    return hash.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
  }

  private static func take(_ block: ArraySlice<UInt8>, into hash: inout [UInt32]) {
    func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
      word << count | word >> (32 - count)
    }
    var words = (0..<16).map { index in
      (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(block[block.startIndex + index * 4 + $1]) }
    }
    for index in 16..<80 {
      words.append(
        rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
    }
    var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
    for index in 0..<80 {
      let (mixed, constant): (UInt32, UInt32) =
        switch index / 20 {
        case 0: (b & c | ~b & d, 0x5A82_7999)
        case 1: (b ^ c ^ d, 0x6ED9_EBA1)
        case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
      let next = rotated(a, 5) &+ mixed &+ e &+ constant &+ words[index]
      (a, b, c, d, e) = (next, a, rotated(b, 30), c, d)
    }
    for (index, word) in [a, b, c, d, e].enumerated() { hash[index] &+= word }
  }
}
