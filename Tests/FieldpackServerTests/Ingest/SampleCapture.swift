import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport

@testable import FieldpackServer

/// A capture as devices send it.
struct SampleCapture {
  static let boundary = "0xKhTmLbOuNdArY"
  static let type = "multipart/form-data; boundary=\(boundary)"

  var token = "c1"
  var createdAt = 1000
  /// A movie by its first bytes, longer than what is kept in memory.
  var media = SampleCapture.movie(1_500_000)
  var thumbnail = TestPicture.png(width: 4, height: 3, color: (200, 100, 0))

  static func movie(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = [0, 0, 0, 20] + Array("ftypqt  ".utf8)
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes.append(UInt8(truncatingIfNeeded: bytes.count &* 31)) }
    return bytes
  }

  var info: String {
    #"{"token":"\#(token)","title":"Tür \"1\"","media_type":"video","created_at":\#(createdAt),"#
      + #""uploaded_at":0,"coords":[43.5,-72.25],"heading":99.5,"#
      + #""geodata_file":"\#(token)/\#(token).json","thumbnail_file":"\#(token)/\#(token).png","#
      + #""media_file":"\#(token)/\#(token).mov","weather":"dry"}"#
  }

  var geodata: String {
    #"{"points":[{"timestamp":0,"coords":[43.5,-72.25],"accuracy":65,"heading":99.5},"#
      + #"{"timestamp":2.5,"coords":[43.75,-72.5],"accuracy":5,"heading":0.125}],"device":"phone"}"#
  }

  /// Name, name of the file, and content of each part.
  var parts: [(String, String, [UInt8])] {
    [
      ("media_file", "\(token).mov", media), ("thumbnail", "\(token).png", thumbnail),
      ("capture_info", "capture-info.json", Array(info.utf8)),
      ("geo_data", "\(token).json", Array(geodata.utf8)),
    ]
  }

  var body: [UInt8] { Self.body(parts) }

  static func body(_ parts: [(String, String, [UInt8])]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (name, file, content) in parts {
      bytes += Array(
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file)\"\r\n\r\n"
          .utf8)
      bytes += content + [13, 10]
    }
    return bytes + Array("--\(boundary)--\r\n".utf8)
  }
}

extension TestServer {
  func send(
    _ method: String, _ path: String, _ body: [UInt8], fields: HTTPFields = [:]
  ) async throws -> Answer {
    let request = HTTPRequest(
      .init(rawValue: method), address + path, fields: fields, body: .bytes(body))
    let response = try await HTTPClient().send(request)
    return Answer(status: response.status, fields: response.fields, body: response.body)
  }

  func upload(_ capture: SampleCapture) async throws -> Answer {
    try await send("POST", "/upload", capture.body, fields: ["Content-Type": SampleCapture.type])
  }

  /// How many rows the layers of captures have.
  func captureRows() async throws -> [String: Int] {
    var rows: [String: Int] = [:]
    for layer in ["capture", "capture_point", "capture_track", "media"] {
      rows[layer] = try await store.count(Query(LayerID(layer)))
    }
    return rows
  }
}
