import FieldpackCore
import FieldpackTestSupport
import Testing

@testable import FieldpackHTTP

/// Redirects, cancelling, and many exchanges at once.
@Suite struct HTTPExchangeTests {
  @Test func `redirects are followed within a server`() async throws {
    let server = try LoopbackServer { request in
      switch request.target {
      case "/start/here": .text(302, "", fields: [["Location", "../next?a=b"]])
      case "/next?a=b": .text(307, "", fields: [["location", "/end"]])
      default: .text(200, "\(request.method) \(request.target) \(request.body.count)")
      }
    }
    let client = try HTTPClient(.unhurried)
    let got = try await client.send(HTTPRequest(.get, server.address + "/start/here"))
    #expect(String(decoding: got.body, as: UTF8.self) == "GET /end 0")
    #expect(got.url == server.address + "/end")
    let first = HTTPRequest(.post, server.address + "/start/here", body: .bytes([1]))
    let posted = try await client.send(first)
    #expect(String(decoding: posted.body, as: UTF8.self) == "GET /end 0")
    let second = HTTPRequest(.post, server.address + "/next?a=b", body: .bytes([1]))
    let kept = try await client.send(second)
    #expect(String(decoding: kept.body, as: UTF8.self) == "POST /end 1")
  }

  @Test(arguments: [
    "file:///etc/passwd", "http://localhost:1/", "ftp://127.0.0.1/", "http://127.0.0.1:1/",
    "//example.org/", "https://127.0.0.1/", "http://127.0.0.1@example.org/", "http://[", "/loop",
    "gopher://127.0.0.1:70/",
  ])
  func `a redirect elsewhere, or without end, is refused`(location: String) async throws {
    let server = try LoopbackServer { _ in .text(301, "", fields: [["Location", location]]) }
    let client = try HTTPClient(.unhurried)
    var found: FieldpackError?
    do throws(FieldpackError) {
      _ = try await client.send(HTTPRequest(.get, server.address))
    } catch { found = error }
    #expect(found?.code == .invalidData && found?.httpFailure == .redirect)
    #expect(server.requests.count == (location == "/loop" ? 6 : 1))
  }

  @Test func `cancelling stops the transfer`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let client = try HTTPClient(.unhurried)
    let task = Task { () async -> FieldpackError? in
      do throws(FieldpackError) {
        _ = try await client.send(HTTPRequest(.get, server.address))
        return nil
      } catch { return error }
    }
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
    task.cancel()
    #expect(await task.value?.code == .interrupted)
    // Given up by the client, not only forgotten: the server sees the connection end.
    while server.left == 0 { try await Task.sleep(for: .milliseconds(2)) }
  }

  @Test func `a cancelled task sends nothing`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let client = try HTTPClient(.unhurried)
    let task = Task { () async -> FieldpackError? in
      withUnsafeCurrentTask { $0?.cancel() }
      do throws(FieldpackError) {
        _ = try await client.send(HTTPRequest(.get, server.address))
        return nil
      } catch { return error }
    }
    #expect(await task.value?.code == .interrupted)
  }

  @Test func `many exchanges share a few connections`() async throws {
    let server = try LoopbackServer { request in .text(200, request.target) }
    var configuration = HTTPConfiguration.unhurried
    configuration.connectionsPerHost = 3
    let client = try HTTPClient(configuration)
    let bodies = try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
      for number in 0..<200 {
        group.addTask {
          (number, try await client.send(HTTPRequest(.get, "\(server.address)/\(number)")).body)
        }
      }
      return try await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
    }
    #expect(bodies.count == 200)
    #expect(bodies.allSatisfy { Array("/\($0.key)".utf8) == $0.value })
    #expect(Set(server.requests.map(\.connection)).count <= 3)
  }

  @Test func `a client that goes ends its thread and no other`() async throws {
    let server = try LoopbackServer { _ in .text(200, "") }
    for _ in 0..<50 {
      let response = try await HTTPClient(.unhurried).send(HTTPRequest(.get, server.address))
      #expect(response.status == 200)
    }
  }
}

extension HTTPConfiguration {
  /// For a machine that has much else to do.
  static var unhurried: HTTPConfiguration {
    var configuration = HTTPConfiguration()
    (configuration.timeout, configuration.lowSpeed) = (nil, 0)
    configuration.connectTimeout = .seconds(3600)
    return configuration
  }
}
