import FieldpackCore
import FieldpackTestSupport
import Testing

@testable import FieldpackHTTP

@Suite struct NetworkAddressTests {
  @Test(arguments: [
    "9.9.9.9", "100.63.255.255", "100.128.0.0", "126.255.255.255", "172.15.0.1", "172.32.0.1",
    "192.0.1.1", "192.169.0.1", "198.20.0.1", "223.255.255.255", "2001:4860:4860::8888",
    "::ffff:9.9.9.9", "64:ff9b::909:909", "2002:909:909::1",
  ])
  func `addresses of the internet are public`(text: String) {
    #expect(NetworkAddress.isPublic(text))
  }

  @Test(arguments: [
    "0.0.0.0", "10.255.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.168.1.1", "198.19.0.1",
    "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:a00:1",
    "64:ff9b::7f00:1", "2002:c0a8:101::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0",
    "ff02::1", "::127.0.0.1", "", "localhost", "2130706433", "0x7f.1",
  ])
  func `others are not`(text: String) {
    #expect(!NetworkAddress.isPublic(text))
  }

  @Test func `what the internet leads to in one's own network is not asked`() async throws {
    let server = try LoopbackServer { _ in .text(200, "") }
    let client = try HTTPClient(.unhurried)
    let request = HTTPRequest(.get, server.address)
    _ = try await client.stream(request, timeout: nil, isPublicOnly: false).next()
    for client in [client, try HTTPClient(.unhurried)] {
      let error = await #expect(throws: FieldpackError.self) {
        try await client.stream(request, timeout: nil, isPublicOnly: true)
      }
      #expect(error?.code == .invalidData && error?.httpFailure == .redirect)
      #expect(
        error?.message == "\(server.address)/: a server on the internet leads to the private "
          + "address 127.0.0.1, and is not followed")
    }
    #expect(server.requests.count == 1)
    var allowing = HTTPConfiguration.unhurried
    allowing.privateHosts = ["127.0.0.1"]
    let allowed = try HTTPClient(allowing)
    _ = try await allowed.stream(request, timeout: nil, isPublicOnly: true).next()
    #expect(server.requests.count == 2)
  }
}
