/// The links and routes of the machine, as Linux tells them by rtnetlink (rtnetlink(7)).
struct NetworkTables: Hashable, Sendable {
  struct Link: Hashable, Sendable {
    var index: Int32
    var name: String
    var isLoopback: Bool
    /// Whether the link is up and has a carrier.
    var isRunning: Bool
  }

  struct Route: Hashable, Sendable {
    var link: Int32
    /// Whether the route leads everywhere.
    var isDefault: Bool
    /// The lower, the better.
    var metric: UInt32
  }

  var links: [Link] = []
  /// The routes that lead to other machines.
  var routes: [Route] = []

  /// How others are reached.
  ///
  /// A machine without a network device, as many a container is, reaches itself alone, which then counts
  /// as reachable. On all others loopback, which is always up, tells nothing.
  /// - Parameters:
  ///   - isWireless: whether the link of that name is a radio's.
  ///   - isDevice: whether the link of that name is a piece of hardware.
  func path(isWireless: (String) -> Bool, isDevice: (String) -> Bool) -> NetworkPath {
    let running = links.filter { $0.isRunning && !$0.isLoopback }
    let usable = routes.filter { route in running.contains { $0.index == route.link } }
    let best = usable.min { a, b in
      (a.isDefault ? 0 : 1, a.metric) < (b.isDefault ? 0 : 1, b.metric)
    }
    if let best, let link = running.first(where: { $0.index == best.link }) {
      return isWireless(link.name) ? .wifi : .wan
    }
    let isAlone = !links.contains { !$0.isLoopback && isDevice($0.name) }
    return isAlone && links.contains { $0.isLoopback && $0.isRunning } ? .wan : .none
  }
}

// MARK: Messages

extension NetworkTables {
  /// What a message begins with, and what it asks for.
  enum Message {
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let newLink: UInt16 = 16
    static let getLink: UInt16 = 18
    static let newRoute: UInt16 = 24
    static let getRoute: UInt16 = 26
    static let headerSize = 16
    /// NLM_F_REQUEST and NLM_F_DUMP.
    static let dump: UInt16 = 0x301
  }

  /// A request for all links or all routes.
  static func request(_ type: UInt16) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Message.headerSize + 4)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
      bytes.storeBytes(of: type, toByteOffset: 4, as: UInt16.self)
      bytes.storeBytes(of: Message.dump, toByteOffset: 6, as: UInt16.self)
      bytes.storeBytes(of: 1, toByteOffset: 8, as: UInt32.self)
    }
    return bytes
  }

  /// Adds what a datagram of the kernel tells; returns whether it is the last one of an answer.
  mutating func add(_ datagram: UnsafeRawBufferPointer) -> Bool {
    var rest = datagram[...]
    while let length = rest.number(at: 0, as: UInt32.self),
      let type = rest.number(at: 4, as: UInt16.self),
      length >= Message.headerSize, Int(length) <= rest.count
    {
      let body = rest.prefix(Int(length)).dropFirst(Message.headerSize)
      switch type {
      case Message.done, Message.error: return true
      case Message.newLink: addLink(body)
      case Message.newRoute: addRoute(body)
      default: break
      }
      rest = rest.dropFirst(Self.aligned(Int(length)))
    }
    return false
  }

  private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

  /// `struct ifinfomsg` with its attributes.
  private mutating func addLink(_ body: Slice<UnsafeRawBufferPointer>) {
    guard let index = body.number(at: 4, as: Int32.self),
      let flags = body.number(at: 8, as: UInt32.self)
    else { return }
    var link = Link(
      index: index, name: "", isLoopback: flags & 0x8 != 0, isRunning: flags & 0x41 == 0x41)
    Self.eachAttribute(of: body.dropFirst(16)) { type, value in
      // IFLA_IFNAME, with a NUL at its end.
      if type == 3 { link.name = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self) }
    }
    links.append(link)
  }

  /// `struct rtmsg` with its attributes.
  private mutating func addRoute(_ body: Slice<UnsafeRawBufferPointer>) {
    guard let family = body.number(at: 0, as: UInt8.self),
      let length = body.number(at: 1, as: UInt8.self),
      let table = body.number(at: 4, as: UInt8.self),
      let type = body.number(at: 7, as: UInt8.self)
    else { return }
    // RT_TABLE_MAIN and RTN_UNICAST: the others are of addresses of this machine, and of groups.
    guard table == 254, type == 1 else { return }
    var route = Route(link: 0, isDefault: length == 0, metric: 0)
    var isLocal = false
    Self.eachAttribute(of: body.dropFirst(12)) { type, value in
      switch type {
      case 1: isLocal = Self.isLinkLocal(family, value)
      case 4: route.link = value.number(at: 0, as: Int32.self) ?? 0
      case 6: route.metric = value.number(at: 0, as: UInt32.self) ?? 0
      // RTA_MULTIPATH: the first of several ways, whose link stands behind four bytes.
      case 9: route.link = value.number(at: 4, as: Int32.self) ?? 0
      default: break
      }
    }
    if route.link != 0, !isLocal { routes.append(route) }
  }

  /// Whether an address is one that every link gives itself: 169.254.0.0/16, fe80::/10 and ff00::/8.
  private static func isLinkLocal(_ family: UInt8, _ address: Slice<UnsafeRawBufferPointer>) -> Bool
  {
    guard let first = address.number(at: 0, as: UInt8.self),
      let second = address.number(at: 1, as: UInt8.self)
    else { return false }
    if address.count == 4 { return first == 169 && second == 254 }
    return first == 0xFF || first == 0xFE && second & 0xC0 == 0x80
  }

  private static func eachAttribute(
    of bytes: Slice<UnsafeRawBufferPointer>,
    _ body: (_ type: UInt16, _ value: Slice<UnsafeRawBufferPointer>) -> Void
  ) {
    var rest = bytes
    while let length = rest.number(at: 0, as: UInt16.self),
      let type = rest.number(at: 2, as: UInt16.self),
      length >= 4, Int(length) <= rest.count
    {
      body(type, rest.prefix(Int(length)).dropFirst(4))
      rest = rest.dropFirst(aligned(Int(length)))
    }
  }
}

extension Slice<UnsafeRawBufferPointer> {
  /// A number in the machine's byte order; `nil` beyond the end.
  fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Number.Type
  ) -> Number? {
    guard offset + MemoryLayout<Number>.size <= count else { return nil }
    return UnsafeRawBufferPointer(rebasing: self).loadUnaligned(fromByteOffset: offset, as: type)
  }
}
