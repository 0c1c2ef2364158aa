import FieldpackCore
import FieldpackHTTP
import FieldpackLocation

/// The positions in the body of a request, or in its query.
struct FixBody {
  /// Which program has sent them, because each expects another answer.
  enum Sender {
    case lines, ownTracks, traccar
  }

  /// One line of the body, or the whole query.
  struct Entry {
    var line: Int
    var fixes: [Fix] = []
    /// Why the line, or the query, cannot be read.
    var mistake: String?
  }

  var sender = Sender.lines
  var entries: [Entry] = []

  /// - Throws: `.invalidData` for a body with too many lines.
  init(_ request: ServerRequest) throws(FieldpackError) {
    let type = (request.fields["Content-Type"] ?? "").prefix { $0 != ";" }.lowercased()
    if request.body.isEmpty || type == "application/x-www-form-urlencoded" {
      sender = .traccar
      readQuery(request)
    } else {
      try readLines(request)
    }
  }

  private mutating func readQuery(_ request: ServerRequest) {
    var values: [String: String] = [:]
    for parameter in request.query { values[parameter.name] = parameter.value }
    var entry = Entry(line: 1)
    do throws(FieldpackError) {
      guard let form = request.form else {
        throw FieldpackError(.invalidData, "the form has a broken percent escape")
      }
      for (name, value) in form { values[name] = value }
      entry.add(try TraccarFix.osmAnd { values[$0] })
    } catch { entry.mistake = error.message }
    entries = [entry]
  }

  private static let mostLines = 100_000

  private mutating func readLines(_ request: ServerRequest) throws(FieldpackError) {
    // OwnTracks and Traccar send one object, which may stand on several lines.
    if let json = try? JSONValueReader.read(String(decoding: request.body, as: UTF8.self)) {
      if json["_type"] != nil { sender = .ownTracks }
      if json["position"] != nil || json["location"] != nil { sender = .traccar }
      var text = Array(json.text.utf8)
      if case .array(let list) = json {
        text = Array(list.map(\.text).joined(separator: "\n").utf8)
      }
      try readLines(text, device: Self.device(of: request, json))
    } else {
      try readLines(request.body, device: nil)
    }
  }

  /// OwnTracks names user and device in fields, else in the topic that MQTT would have.
  private static func device(of request: ServerRequest, _ json: JSONValue) -> String? {
    guard json["_type"] != nil else { return nil }
    if let device = request.fields["X-Limit-D"], !device.isEmpty {
      return [request.fields["X-Limit-U"], device].compactMap { $0 }.joined(separator: "/")
    }
    guard let topic = json["topic"]?.string?.split(separator: "/"), topic.count >= 3 else {
      return nil
    }
    return topic[1...2].joined(separator: "/")
  }

  private mutating func readLines(
    _ bytes: [UInt8], device: String?
  ) throws(FieldpackError) {
    var parser = FixLineParser(format: nil, device: "")
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.count <= Self.mostLines else {
      throw FieldpackError(.invalidData, "the body has more than \(Self.mostLines) lines")
    }
    for (index, line) in lines.enumerated() {
      guard line.contains(where: { $0 > 0x20 }) else { continue }
      var entry = Entry(line: index + 1)
      var updates: [LocationUpdate] = []
      do throws(FieldpackError) {
        try Array(line).withUnsafeBufferPointer { (line) throws(FieldpackError) in
          try parser.take(line, into: &updates)
        }
      } catch { entry.mistake = error.message }
      entry.add(updates, device)
      entries.append(entry)
    }
    var updates: [LocationUpdate] = []
    parser.finish(into: &updates)
    guard !updates.isEmpty, !entries.isEmpty else { return }
    entries[entries.count - 1].add(updates, device)
  }
}

extension FixBody.Entry {
  fileprivate mutating func add(_ updates: [LocationUpdate], _ device: String?) {
    for case .fix(var fix) in updates {
      if let device { fix.device = device }
      add(fix)
    }
  }

  /// Adds a fix, unless the name of its device is too long: the name is part of the topics of events.
  fileprivate mutating func add(_ fix: Fix) {
    guard fix.device.utf8.count <= 256 else {
      mistake = "the name of the device has more than 256 bytes"
      return
    }
    fixes.append(fix)
  }
}
