import FieldpackServices
import Testing

@testable import FieldpackServices

struct NetworkTablesTests {
  private typealias Link = NetworkTables.Link
  private typealias Route = NetworkTables.Route

  private static let loopback = Link(index: 1, name: "lo", isLoopback: true, isRunning: true)

  private func link(_ index: Int32, _ name: String, isRunning: Bool = true) -> Link {
    Link(index: index, name: name, isLoopback: false, isRunning: isRunning)
  }

  /// The path where links that begin with `w` are radios, and those with `v` no hardware.
  private func path(_ links: [Link], _ routes: [Route] = []) -> NetworkPath {
    NetworkTables(links: links, routes: routes)
      .path(isWireless: { $0.hasPrefix("w") }, isDevice: { !$0.hasPrefix("v") })
  }

  @Test func `a link with a route is a path`() {
    let links = [Self.loopback, link(2, "eth0"), link(3, "wlan0")]
    let cable = Route(link: 2, isDefault: true, metric: 100)
    let radio = Route(link: 3, isDefault: true, metric: 600)
    #expect(path(links, [radio, cable]) == .wan)
    #expect(path(links, [radio]) == .wifi)
    #expect(path(links, [Route(link: 2, isDefault: false, metric: 0), radio]) == .wifi)
    #expect(path(links, [Route(link: 2, isDefault: false, metric: 0)]) == .wan)
  }

  @Test func `a link without a carrier or a route is none`() {
    let route = Route(link: 2, isDefault: true, metric: 0)
    #expect(path([Self.loopback, link(2, "eth0", isRunning: false)], [route]) == .none)
    #expect(path([Self.loopback, link(2, "eth0")]) == .none)
    #expect(path([Self.loopback, link(3, "eth0")], [route]) == .none)
    #expect(path([], []) == .none)
  }

  @Test func `a machine without a network device reaches itself`() {
    #expect(path([Self.loopback]) == .wan)
    #expect(path([Self.loopback, link(2, "veth0")]) == .wan)
    #expect(path([Link(index: 1, name: "lo", isLoopback: true, isRunning: false)]) == .none)
  }

  // MARK: Messages

  /// Numbers as the machine stores them.
  private static func bytes(_ numbers: any FixedWidthInteger...) -> [UInt8] {
    var bytes: [UInt8] = []
    for number in numbers {
      func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number) { bytes += $0 }
      }
      append(number)
    }
    return bytes
  }

  private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
    let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    return bytes(UInt16(value.count + 4), type) + value + padding
  }

  private static func message(_ type: UInt16, _ body: [UInt8]) -> [UInt8] {
    bytes(UInt32(body.count + 16), type, UInt16(2), UInt32(1), UInt32(0)) + body
  }

  private static func link(_ index: Int32, _ flags: UInt32, _ name: String) -> [UInt8] {
    message(
      16,
      bytes(UInt32(0), index, flags, UInt32(0)) + attribute(1, [1, 2, 3])
        + attribute(3, Array(name.utf8) + [0]))
  }

  private static func route(
    _ family: UInt8, length: UInt8 = 0, table: UInt8 = 254, type: UInt8 = 1,
    _ attributes: [UInt8]...
  ) -> [UInt8] {
    message(
      24,
      bytes(family, length, UInt8(0), UInt8(0), table, UInt8(3), UInt8(0), type, UInt32(0))
        + attributes.flatMap { $0 })
  }

  private static let answer =
    link(1, 0x10049, "lo") + link(2, 0x11043, "eth0") + link(3, 0x1003, "wlan0")
    + route(2, attribute(4, bytes(Int32(2))), attribute(6, bytes(UInt32(100))))
    + route(2, length: 16, attribute(1, [169, 254, 0, 0]), attribute(4, bytes(Int32(2))))
    + route(
      10, length: 64, attribute(1, [0xFE, 0x80] + [UInt8](repeating: 0, count: 14)),
      attribute(4, bytes(Int32(2))))
    + route(2, table: 255, type: 2, attribute(4, bytes(Int32(1))))
    + route(
      2, length: 24, attribute(1, [192, 168, 1, 0]),
      attribute(9, bytes(UInt16(8), UInt8(0), UInt8(0), Int32(3))))

  private func read(_ datagram: [UInt8]) -> (tables: NetworkTables, isLast: Bool) {
    var tables = NetworkTables()
    let isLast = datagram.withUnsafeBytes { tables.add($0) }
    return (tables, isLast)
  }

  @Test func `the kernel's messages are read`() {
    let (tables, isLast) = read(Self.answer)
    #expect(!isLast)
    #expect(
      tables.links == [
        Self.loopback, link(2, "eth0"), link(3, "wlan0", isRunning: false),
      ])
    #expect(
      tables.routes == [
        Route(link: 2, isDefault: true, metric: 100), Route(link: 3, isDefault: false, metric: 0),
      ])
    #expect(read(Self.message(3, Self.bytes(Int32(0)))).isLast)
  }

  @Test func `no broken message is read beyond its end`() {
    for count in Self.answer.indices { _ = read(Array(Self.answer[..<count])) }
    for index in Self.answer.indices {
      var broken = Self.answer
      broken[index] ^= 0xFF
      _ = read(broken)
    }
  }

  @Test func `a request asks for all of a kind`() {
    #expect(
      NetworkTables.request(18)
        == Self.bytes(UInt32(20), UInt16(18), UInt16(0x301), UInt32(1), UInt32(0), UInt32(0)))
  }

  #if os(Linux)
    @Test func `the path of this machine is told at once`() async throws {
      let reachability = try LinuxReachability()
      let (path, isConnected) = (reachability.paths, reachability.isConnected)
      var paths = path.makeAsyncIterator()
      var facts = isConnected.makeAsyncIterator()
      let first = try #require(await paths.next())
      #expect(await facts.next(isolation: nil) == (first != .none))
    }
  #endif
}

struct ReachabilityTests {
  /// Tells what it is given.
  private struct Script: Reachability {
    let paths: AsyncStream<NetworkPath>

    init(_ paths: [NetworkPath]) {
      self.paths = AsyncStream { continuation in
        for path in paths { continuation.yield(path) }
        continuation.finish()
      }
    }
  }

  private func all(_ facts: some AsyncSequence<Bool, Never>) async -> [Bool] {
    var all: [Bool] = []
    for await fact in facts { all.append(fact) }
    return all
  }

  @Test func `facts are told when they change`() async {
    let paths: [NetworkPath] = [.wifi, .wan, .wan, .none, .wifi]
    #expect(await all(Script(paths).isConnected) == [true, false, true])
    #expect(await all(Script(paths).viaWifi) == [true, false, true])
    #expect(await all(Script(paths).viaWAN) == [false, true, false])
  }
}
