public import FieldpackCore
import FieldpackHTTP

/// Where a server listens: an address of this machine and a port.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
  public var host: String
  /// 0 for a free port.
  public var port: Int

  public init(host: String = "127.0.0.1", port: Int = 8085) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`, `[::1]:PORT`, `HOST` or `:PORT`. `localhost` is 127.0.0.1.
  ///
  /// - Throws: `.invalidArgument`.
  public init(_ text: String) throws(FieldpackError) {
    self.init()
    var rest = text[...]
    if rest.first == "[" {
      guard let end = rest.firstIndex(of: "]") else { throw Self.refusal(text) }
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[rest.index(after: end)...]
    } else {
      let name = rest.prefix { $0 != ":" }
      if !name.isEmpty { host = name == "localhost" ? "127.0.0.1" : String(name) }
      rest = rest[name.endIndex...]
    }
    if rest.first == ":" {
      guard let number = UInt16(rest.dropFirst()) else { throw Self.refusal(text) }
      port = Int(number)
    } else if !rest.isEmpty {
      throw Self.refusal(text)
    }
    guard NetworkAddress.version4(host) != nil || NetworkAddress.version6(host) != nil else {
      throw Self.refusal(text)
    }
  }

  private static func refusal(_ text: String) -> FieldpackError {
    FieldpackError(
      .invalidArgument,
      "'\(text)' is no address to listen on. Try: 127.0.0.1:8085, or [::1]:8085")
  }

  /// Whether only programs of this machine can connect.
  public var isLoopback: Bool {
    if let bytes = NetworkAddress.version4(host) { return bytes[0] == 127 }
    return NetworkAddress.version6(host) == [UInt8](repeating: 0, count: 15) + [1]
  }

  public var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
