import FieldpackCore

/// What ends a WebSocket connection (RFC 6455, 7.4.1).
struct WebSocketClose: Error, Hashable {
  var code: UInt16

  static let normal = WebSocketClose(code: 1000)
  static let goingAway = WebSocketClose(code: 1001)
  static let protocolError = WebSocketClose(code: 1002)
  static let noText = WebSocketClose(code: 1003)
  static let notUTF8 = WebSocketClose(code: 1007)
  static let tooSlow = WebSocketClose(code: 1008)
  static let tooLong = WebSocketClose(code: 1009)
}

/// Reads the frames of a client (RFC 6455, 5), which come in pieces cut anywhere.
struct WebSocketReader {
  enum Event: Hashable {
    case text(String)
    case ping([UInt8])
    case pong
    /// The client says good-bye; with the code to answer.
    case close(WebSocketClose)
  }

  /// The longest message, in bytes.
  private let limit: Int
  private var bytes: [UInt8] = []
  private var start = 0
  /// The message so far, of which more frames come.
  private var message: [UInt8]?

  init(limit: Int = 16 << 20) { self.limit = limit }

  private struct Frame {
    var isLast: Bool
    var kind: UInt8
    var payload: [UInt8]
  }

  /// What the bytes and those before them are.
  ///
  /// - Throws: why the connection has to end; what came before is lost then.
  mutating func take(_ new: some Sequence<UInt8>) throws(WebSocketClose) -> [Event] {
    bytes += new
    var events: [Event] = []
    while let frame = try nextFrame() {
      if let event = try take(frame) { events.append(event) }
      if case .close? = events.last { break }
    }
    bytes.removeFirst(start)
    start = 0
    return events
  }

  private mutating func nextFrame() throws(WebSocketClose) -> Frame? {
    let rest = bytes[start...]
    guard rest.count >= 2 else { return nil }
    let (first, second) = (rest[start], rest[start + 1])
    let kind = first & 0x0F
    // No extension is agreed on, and all that clients send is masked.
    guard first & 0x70 == 0, second & 0x80 != 0, [0, 1, 2, 8, 9, 10].contains(kind) else {
      throw .protocolError
    }
    guard kind != 2 else { throw .noText }
    var length = Int(second & 0x7F)
    let extra = length == 126 ? 2 : length == 127 ? 8 : 0
    let head = 2 + extra + 4
    if kind >= 8, extra > 0 || first & 0x80 == 0 { throw .protocolError }
    guard rest.count >= 2 + extra else { return nil }
    if extra > 0 {
      let number = rest[(start + 2)..<(start + 2 + extra)].reduce(UInt64(0)) {
        $0 << 8 | UInt64($1)
      }
      // The shortest form is the only one.
      guard number > (extra == 2 ? 125 : 0xFFFF) else { throw .protocolError }
      guard number <= UInt64(limit) else { throw .tooLong }
      length = Int(number)
    }
    guard kind >= 8 || (message?.count ?? 0) + length <= limit else { throw .tooLong }
    guard rest.count >= head + length else { return nil }
    let mask = Array(rest[(start + head - 4)..<(start + head)])
    var payload = Array(rest[(start + head)..<(start + head + length)])
    for index in payload.indices { payload[index] ^= mask[index % 4] }
    start += head + length
    return Frame(isLast: first & 0x80 != 0, kind: kind, payload: payload)
  }

  private mutating func take(_ frame: Frame) throws(WebSocketClose) -> Event? {
    switch frame.kind {
    case 8: return .close(try Self.reason(frame.payload))
    case 9: return .ping(frame.payload)
    case 10: return .pong
    case 0:
      guard message != nil else { throw .protocolError }
      message?.append(contentsOf: frame.payload)
    default:
      guard message == nil else { throw .protocolError }
      message = frame.payload
    }
    guard frame.isLast, let whole = message else { return nil }
    message = nil
    guard let text = String(validating: whole, as: UTF8.self) else { throw .notUTF8 }
    return .text(text)
  }

  private static func reason(_ payload: [UInt8]) throws(WebSocketClose) -> WebSocketClose {
    guard !payload.isEmpty else { return .normal }
    guard payload.count >= 2 else { throw .protocolError }
    let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
    switch code {
    case 1000...1003, 1007...1011, 3000...4999: break
    default: throw .protocolError
    }
    guard String(validating: payload[2...], as: UTF8.self) != nil else { throw .notUTF8 }
    return WebSocketClose(code: code)
  }

  // MARK: Writing

  static func text(_ text: String) -> [UInt8] { frame(1, Array(text.utf8)) }

  static func pong(_ payload: [UInt8]) -> [UInt8] { frame(10, payload) }

  static let ping = frame(9, [])

  static func close(_ reason: WebSocketClose) -> [UInt8] {
    frame(8, [UInt8(reason.code >> 8), UInt8(reason.code & 0xFF)])
  }

  private static func frame(_ kind: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var bytes = [0x80 | kind]
    switch payload.count {
    case ...125: bytes.append(UInt8(payload.count))
    case ...0xFFFF:
      bytes.append(126)
      withUnsafeBytes(of: UInt16(payload.count).bigEndian) { bytes += $0 }
    default:
      bytes.append(127)
      withUnsafeBytes(of: UInt64(payload.count).bigEndian) { bytes += $0 }
    }
    return bytes + payload
  }
}
