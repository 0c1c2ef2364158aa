import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport

@testable import FieldpackServer

/// A client that follows events, as a browser does.
final class EventClient {
  struct Event: Hashable {
    var name: String
    var id: String
    var data: String

    var json: JSONValue { (try? JSONValueReader.read(data)) ?? .null }
    /// The id of the feature.
    var feature: Int64? {
      if case .integer(let id)? = json["data"]?["id"] { id } else { nil }
    }
    /// The kind and the id, such as `created 3`.
    var short: String { name + (feature.map { " \($0)" } ?? "") }
  }

  private let stream: HTTPStream
  private var rest: [UInt8] = []
  private(set) var lastID = ""
  private(set) var comments: [String] = []

  /// Comes back once the client follows.
  init(
    _ server: TestServer, _ path: String, after id: String? = nil, token: String? = nil
  ) async throws {
    var configuration = HTTPConfiguration()
    configuration.timeout = nil
    configuration.lowSpeed = 0
    var fields: HTTPFields = ["Accept": "text/event-stream"]
    if let id { fields["Last-Event-ID"] = id }
    if let token { fields["Authorization"] = "Bearer \(token)" }
    var request = HTTPRequest(.get, server.address + path, fields: fields)
    request.maximumLength = .max
    stream = try await HTTPClient(configuration).stream(request)
    guard stream.head.status == 200 else {
      throw FieldpackError(.invalidData, "status \(stream.head.status)")
    }
  }

  /// The next event; `nil` at the end.
  func next() async throws -> Event? {
    while true {
      guard let block = try await block() else { return nil }
      var event = Event(name: "message", id: "", data: "")
      for line in block.split(separator: "\n") {
        if line.hasPrefix(":") { comments.append(String(line.dropFirst())) }
        if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
        if line.hasPrefix("id: ") { lastID = String(line.dropFirst(4)) }
        if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
      }
      event.id = lastID
      if !event.data.isEmpty { return event }
      if isBeginning, !lastID.isEmpty { return nil }
    }
  }

  private var isBeginning = false

  /// Reads until the client knows where it stands, so that what is changed from now on comes to it.
  func begin() async throws {
    isBeginning = true
    defer { isBeginning = false }
    while lastID.isEmpty { _ = try await next() }
  }

  func next(_ count: Int) async throws -> [Event] {
    var events: [Event] = []
    while events.count < count, let event = try await next() { events.append(event) }
    return events
  }

  /// The text up to the next empty line.
  private func block() async throws -> String? {
    while true {
      for index in rest.indices.dropFirst() where rest[index] == 0x0A && rest[index - 1] == 0x0A {
        let text = String(decoding: rest[..<index], as: UTF8.self)
        rest.removeFirst(index + 1)
        return text
      }
      guard let bytes = try await stream.next() else { return nil }
      rest += bytes
    }
  }
}

extension TestServer {
  /// A server whose wells are logged.
  static func logged(wells: Int = 20) async throws -> TestServer {
    let server = try await TestServer(wells: wells, isWritable: true)
    try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      _ = try writer.logEdits(of: "wells")
    }
    return server
  }

  func set(_ name: String, of well: Int64) async throws {
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.update(.integer(well), in: "wells", set: ["name": .text(name)])
    }
  }
}
