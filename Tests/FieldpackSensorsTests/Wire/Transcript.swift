import FieldpackTestSupport
import Foundation
import Testing

/// A recorded request with its answer.
struct Transcript {
  var method: String
  /// The path without the service's own, such as `/info`.
  var path: String
  var requestBody: [UInt8]
  var status: Int
  var body: [UInt8]

  private static let folder = "field-systems/wsbd/"

  /// The 39 exchanges with jWSBD, by number.
  static func service() throws -> [Transcript] {
    try SharedData.files(in: folder + "jwsbd-transcripts", extensions: ["http"]).map {
      try Transcript($0, root: "/simulatedservice", mark: "=== RESPONSE ===\n")
    }
  }

  /// The seven exchanges of 2012.
  static func samples() throws -> [Transcript] {
    try SharedData.files(in: folder + "wsabi2-sample_calls", extensions: ["txt"])
      .sorted { number($0) < number($1) }
      .map { try Transcript($0, root: "http://wsbd-face.mbark.local:8000/Service", mark: nil) }
  }

  private static func number(_ url: URL) -> Int {
    Int(url.lastPathComponent.prefix { $0.isNumber }) ?? 0
  }

  static func schema(_ name: String) -> URL { SharedData.url(folder + name) }

  private init(_ url: URL, root: String, mark: String?) throws {
    let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
      .replacingOccurrences(of: "\r\n", with: "\n")
    let cut = try #require(text.range(of: "\(mark ?? "\n")HTTP/1.1 "))
    let request = String(text[..<cut.lowerBound])
    let answer = text[cut.upperBound...]
    let line = request.split(separator: "\n")[0].split(separator: " ")
    method = String(line[0])
    path = String(line[1].dropFirst(root.count))
    requestBody = Array((Self.body(request) ?? "").utf8)
    status = Int(answer.prefix(3)) ?? 0
    body = Array((Self.body(String(answer)) ?? "").utf8)
    while requestBody.last == UInt8(ascii: "\n") { requestBody.removeLast() }
  }

  private static func body(_ message: String) -> String? {
    message.range(of: "\n\n").map { String(message[$0.upperBound...]) }
  }
}
