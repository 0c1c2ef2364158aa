#if Server
  import FieldpackCore
  import FieldpackHTTP
  import FieldpackTestSupport
  import Foundation
  import Testing

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A server that is killed again and again while clients edit, send positions and follow what happens.
  final class KilledServer: Sendable {
    let survey: SurveyFolder
    let followers = ["/events", "/events?collections=wells", "/events?events=started,moved"]
      .map { KilledFollower($0) }
    /// The names of the features that were acknowledged, by their ids.
    let edits = Locked<[String: String]>([:])
    /// The device and the second of each fix that was acknowledged.
    let fixes = Locked<Set<String>>([])
    /// The next fix of each device, which goes on with it until it is acknowledged.
    private let devices = Locked([Int](repeating: 0, count: 2))
    /// The port of the first start, at which clients come back.
    private let port = Locked("0")

    init() async throws {
      survey = try SurveyFolder()
      _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
      _ = try await survey.run("log", "enable", "field.gpkg:wells")
    }

    func start() throws -> (program: Program, address: String) {
      let listen = "127.0.0.1:" + port.withLock { $0 }
      let program = try Program(
        Tool.path,
        [
          "serve", "field.gpkg", "--writable", "--author", "Ada", "--distance", "1", "--listen",
          listen,
        ], folder: survey.folder.url)
      let address = try program.servedAddress()
      port.withLock { $0 = address.dropLast().split(separator: ":").last.map(String.init) ?? "0" }
      return (program, address)
    }

    /// Starts the server, and kills it under the hands of its clients.
    func kill(_ round: Int) async throws {
      let (program, address) = try start()
      let following = try followers.map { try $0.follow(address) }
      let before = (edits.withLock { $0.count }, fixes.withLock { $0.count })
      await withTaskGroup(of: Void.self) { group in
        for client in 0..<3 {
          group.addTask { await self.edit(as: "\(round)-\(client)", at: address) }
        }
        for device in 0..<2 { group.addTask { await self.send(device, at: address) } }
        group.addTask {
          // Not before something of both kinds is acknowledged that could be lost.
          while self.edits.withLock({ $0.count }) == before.0
            || self.fixes.withLock({ $0.count }) == before.1
          { usleep(200) }
          usleep(UInt32.random(in: 0...60_000))
          program.send(SIGKILL)
        }
      }
      #expect(try await program.result().status == 128 + SIGKILL)
      for (follower, client) in zip(followers, following) { try await follower.end(client) }
    }

    // MARK: Clients

    /// Creates features until the server is gone.
    private func edit(as client: String, at address: String) async {
      guard let http = try? HTTPClient() else { return }
      for number in 0... {
        let name = "\(client)-\(number)"
        let body =
          #"{"type":"Feature","geometry":{"type":"Point","coordinates":[13,\#(number % 90)]},"#
          + #""properties":{"name":"\#(name)"}}"#
        let request = HTTPRequest(
          .post, address + "collections/wells/items",
          fields: ["Content-Type": "application/geo+json"], body: .bytes(Array(body.utf8)))
        guard let answer = try? await http.send(request), answer.status == 201,
          let id = answer.fields["Location"]?.split(separator: "/").last
        else { return }
        edits.withLock { $0[String(id)] = name }
      }
    }

    /// Sends one fix after the other until the server is gone. What was not acknowledged is sent again to the
    /// next start. Each fix is a kilometre from the last one, so that each is detected.
    private func send(_ device: Int, at address: String) async {
      guard let http = try? HTTPClient() else { return }
      while true {
        let number = devices.withLock { $0[device] }
        let time = Instant(milliseconds: 1_714_557_600_000 + Int64(number) * 1000)
        let body =
          #"{"lon":\#(7 + Double(number % 2) / 100),"lat":50,"time":"\#(time)","#
          + #""device":"car \#(device)"}"#
        let request = HTTPRequest(
          .post, address + "fixes", fields: ["Content-Type": "application/json"],
          body: .bytes(Array(body.utf8)))
        guard let answer = try? await http.send(request), answer.status == 200 else { return }
        fixes.withLock { _ = $0.insert("car \(device) \(time.milliseconds / 1000)") }
        devices.withLock { $0[device] += 1 }
      }
    }

    // MARK: What is there

    /// The lines of a query's answer, without its head.
    func rows(_ sql: String) async throws -> [String] {
      let result = try await survey.run("sql", "field.gpkg", sql, "--format", "csv")
      #expect(result.status == 0, "\(result)")
      return result.output.split(whereSeparator: \.isNewline).dropFirst().map(String.init)
    }

    /// Lets all followers come to the end of what happened.
    func followToTheEnd() async throws {
      let edits = try await rows("SELECT name FROM wells WHERE fid > 12 ORDER BY fid")
      let detections = try await rows("SELECT fid FROM detection ORDER BY fid")
      let (program, address) = try start()
      for (index, follower) in followers.enumerated() {
        let client = try follower.follow(address)
        let count = (index == 2 ? 0 : edits.count) + (index == 1 ? 0 : detections.count)
        try client.block(for: "the end") { follower.count(with: client) >= count }
        client.send(SIGTERM)
        try await follower.end(client)
        #expect(follower.seen.edits == (index == 2 ? [] : edits), "follower \(index)")
        #expect(follower.seen.detections == (index == 1 ? [] : detections), "follower \(index)")
      }
      program.send(SIGTERM)
      #expect(try await program.result().status == 0)
    }
  }

  /// A client that goes on by the id of its last event, as a browser does. The client itself is curl.
  final class KilledFollower: Sendable {
    struct Seen {
      /// The names of the features that were created.
      var edits: [String] = []
      /// The ids of detections.
      var detections: [String] = []
      var last: String?
    }

    private let path: String
    private let state = Locked(Seen())

    init(_ path: String) { self.path = path }

    var seen: Seen { state.withLock { $0 } }

    func follow(_ address: String) throws -> Program {
      var words = ["-sN", address + path.dropFirst()]
      if let last = seen.last {
        words += ["-H", "Last-Event-ID: \(last)"]
      } else {
        words[1] += (path.contains("?") ? "&" : "?") + "since=2000-01-01T00:00:00Z"
      }
      return try Program(Programs.curl ?? "", words)
    }

    /// How many events the client has with those before.
    func count(with client: Program) -> Int {
      let (old, new) = (seen, Self.read(client.outputSoFar))
      return old.edits.count + old.detections.count + new.edits.count + new.detections.count
    }

    /// Keeps what the client has got.
    func end(_ client: Program) async throws {
      let new = Self.read(try await client.result().output)
      state.withLock { state in
        state.edits += new.edits
        state.detections += new.detections
        state.last = new.last ?? state.last
      }
    }

    /// The events of a stream. What does not end with an empty line counts for nothing (HTML Standard, 9.2.6).
    private static func read(_ text: String) -> Seen {
      var seen = Seen()
      guard let end = text.utf8.lastRange(of: "\n\n") else { return seen }
      for line in text[..<end].split(separator: "\n") {
        if line.hasPrefix("id: ") { seen.last = String(line.dropFirst(4)) }
        guard line.hasPrefix("data: "),
          let data = (try? JSONValueReader.read(String(line.dropFirst(6))))?["data"]
        else { continue }
        if let name = data["properties"]?["name"]?.string {
          seen.edits.append(name)
        } else if case .integer(let id)? = data["id"] {
          seen.detections.append("\(id)")
        }
      }
      return seen
    }
  }

  extension String.UTF8View {
    /// The index of the last place where a text stands.
    fileprivate func lastRange(of text: String) -> Index? {
      var end: Index?
      var rest = self[...]
      while let found = rest.firstRange(of: text.utf8) {
        end = found.lowerBound
        rest = rest[found.upperBound...]
      }
      return end
    }
  }
#endif
