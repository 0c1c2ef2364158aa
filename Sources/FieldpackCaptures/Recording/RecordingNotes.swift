import FieldpackCore
import FieldpackLocation

/// What a recording says of itself in `recording.json`, a line of JSON for each step: the last of a
/// name counts, and what was cut in the middle of a line does not.
struct RecordingNotes {
  static let file = "recording.json"
  static let points = "output.json"
  static let limit = 1 << 20

  var kind: CaptureInfo.MediaKind
  var media: String
  /// Seconds since 1970 in UTC.
  var createdAt: Double
  var title: String
  /// The GeoPackage that it is to be imported into.
  var destination: String?
  /// Once its end has begun.
  var token: String?
  var isImported = false

  init(_ plan: RecordingPlan, createdAt: Double, destination: String?) {
    kind = plan.kind
    media = kind == .video ? "output.mov" : "output.jpg"
    self.createdAt = createdAt
    title = plan.title
    self.destination = destination
  }

  /// - Returns: `nil` where the recording did not come to its beginning.
  init?(_ bytes: [UInt8]) {
    var found: [String: JSONValue] = [:]
    for line in JSONLines(bytes) {
      guard case .object(let members) = line else { break }
      for member in members { found[member.name] = member.value }
    }
    func text(_ name: String) -> String? {
      if case .text(let text)? = found[name] { text } else { nil }
    }
    guard let kind = text("media_type").flatMap(CaptureInfo.MediaKind.init),
      let media = text("media"), FileName.isSound(media),
      let createdAt = found["created_at"]?.number, createdAt.isFinite
    else { return nil }
    self.kind = kind
    self.media = media
    self.createdAt = createdAt
    title = text("title") ?? CaptureInfo.untitled
    destination = text("destination")
    token = text("token")
    isImported = found["imported"] == .boolean(true)
  }

  /// The first line.
  var beginning: [UInt8] {
    var members: [JSONValue.Member] = [
      .init(name: "media_type", value: .text(kind.rawValue)),
      .init(name: "media", value: .text(media)),
      .init(name: "created_at", value: .number(createdAt)),
      .init(name: "title", value: .text(title)),
    ]
    if let destination {
      members.append(.init(name: "destination", value: .text(destination)))
    }
    return Self.line(members)
  }

  /// The line that says one thing.
  static func line(_ name: String, _ value: JSONValue) -> [UInt8] {
    line([.init(name: name, value: value)])
  }

  private static func line(_ members: [JSONValue.Member]) -> [UInt8] {
    JSONLines.bytes([.object(members)])
  }
}

/// The whole lines of a file that is appended to, each a document of JSON; what follows one that
/// cannot be read was not there when the line before was acknowledged.
struct JSONLines: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  /// Where the next line begins: after all that was read.
  private(set) var end = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> JSONValue? {
    guard let stop = bytes[end...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let line = bytes[end..<stop]
    let node = line.withUnsafeBufferPointer { try? JSONValueReader.read($0, maximumDepth: 64) }
    if node != nil { end = stop + 1 }
    return node
  }

  static func bytes(_ nodes: [JSONValue]) -> [UInt8] {
    var bytes: [UInt8] = []
    for node in nodes {
      node.append(to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }
}

/// What is recorded.
struct RecordingPlan: Sendable {
  var kind: CaptureInfo.MediaKind
  var source: any LocationSource
  var title: String
  /// A file to copy.
  var media: String?
  var timing: CaptureTiming
}

/// A step that is on the disk, after which a recording may be killed.
package enum RecordingStep: String, Hashable, Sendable, CaseIterable {
  case folderMade, begun, mediaCopied, pointAppended, tokenNoted, completed, imported,
    pointsRemoved, notesRemoved, renamed
}
