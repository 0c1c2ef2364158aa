import FieldpackCore
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

@Suite struct HostileCaptureTests {
  private static func info(_ changes: [String: String]) -> String {
    var members = [
      "token": #""x""#, "media_type": #""image""#, "created_at": "1000", "coords": "[1, 2]",
    ]
    for (name, value) in changes { members[name] = value }
    return "{"
      + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
      .joined(separator: ", ") + "}"
  }

  private static let point = #"{"timestamp": 0, "coords": [1, 2]}"#

  @Test(arguments: [
    ("", "{}", "capture-info.json is empty"),
    ("{", "{}", "capture-info.json is no JSON: expected a name in quotes at byte 1"),
    ("[]", "{}", "capture-info.json: expected an object but found an array"),
    (info(["token": "7"]), "{}", "capture-info.json: 'token' should be a text but is a number"),
    (info(["token": #""../x""#]), "{}", "the token '../x' cannot be the name of a folder"),
    (
      info(["coords": "[91, 2]"]), "{}",
      "capture-info.json: latitude 91.0 and longitude 2.0 are not on Earth"
    ),
    (info(["coords": "null"]), "{}", "capture-info.json has no 'coords'"),
    (
      info(["coords": "[1, 1e999]"]), "{}",
      "capture-info.json: 'coords' should be a latitude and a longitude but is an array"
    ),
    (
      info(["created_at": #""nan""#]), "{}",
      "capture-info.json: 'created_at' should be a number but is 'nan'"
    ),
    (info(["created_at": "1e300"]), "{}", "the time 1e+300 is not one of the years 1 to 9999"),
    (info(["media_type": #""text""#]), "{}", "'media_type' should be image or video but is 'text'"),
    (
      info(["geodata_file": #""../../secret.json""#]), "{}",
      "'../../secret.json' leads out of the capture's folder"
    ),
    (
      info(["geodata_file": #""/etc/passwd""#]), "{}",
      "'/etc/passwd' leads out of the capture's folder"
    ),
    (
      info(["media_file": #""x/..""#]), #"{"points": [\#(point)]}"#,
      "'x/..' leads out of the capture's folder"
    ),
    (info(["geodata_file": #""x/y.json""#]), "{}", "y.json is missing"),
    (
      info(["media_file": #""x/x.png""#]), #"{"points": [\#(point)]}"#,
      "two files of the capture 'x' have the same name"
    ),
    (info([:]), "", "x.json is empty"),
    (info([:]), "{}", "geo-data has no points"),
    (info([:]), #"{"points": []}"#, "geo-data has no points"),
    (info([:]), #"{"points": [3]}"#, "geo-data point 0: expected an object but found a number"),
    (info([:]), #"{"points": [{"coords": [1, 2]}]}"#, "geo-data point 0 has no 'timestamp'"),
    (
      info([:]), String(repeating: "[", count: 1000),
      "x.json is no JSON: nested more than 64 deep at byte 64"
    ),
  ])
  func `a capture that is wrong is refused by name and the others are imported`(
    _ info: String, _ geodata: String, _ message: String
  ) async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    try sample.write("x/capture-info.json", info)
    try sample.write("x/x.json", geodata)
    let report = try await sample.load()
    #expect(report.refused.map { [$0.name, $0.error.message] } == [["x", message]])
    #expect(report.refused.map(\.error.code) == [.invalidData])
    #expect(report.imported.map(\.token) == [CaptureSample.video])
  }

  @Test func `links lead nowhere`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    let manager = FileManager.default
    let secret = sample.folder.file("secret").path
    try manager.createDirectory(atPath: secret, withIntermediateDirectories: true)
    for (name, text) in [
      ("capture-info.json", Self.info([:])), ("x.json", #"{"points": [\#(Self.point)]}"#),
    ] {
      try text.write(toFile: "\(secret)/\(name)", atomically: true, encoding: .utf8)
    }
    try manager.createSymbolicLink(
      atPath: "\(sample.captures)/x", withDestinationPath: secret)
    try sample.write("y/capture-info.json", Self.info(["token": #""y""#]))
    try sample.write("y/y.json", #"{"points": [\#(Self.point)]}"#)
    try manager.createSymbolicLink(
      atPath: "\(sample.captures)/y/y.jpg", withDestinationPath: "/etc/hostname")
    let report = try await sample.load()
    #expect(report.refused.map(\.name) == ["x", "y"])
    #expect(report.refused.allSatisfy { $0.error.message.contains("is a link") })
    #expect(try await sample.counts()["capture"] == 1)
  }

  @Test func `two captures of one token are not both imported`() async throws {
    let sample = try CaptureSample()
    for name in ["x", "z"] {
      try sample.write("\(name)/capture-info.json", Self.info([:]))
      try sample.write("\(name)/x.json", #"{"points": [\#(Self.point)]}"#)
    }
    let report = try await sample.load()
    #expect(report.imported.map(\.name) == ["x"])
    #expect(
      report.refused.map { [$0.name, $0.error.message] } == [
        ["z", "its token is that of 'x', too"]
      ])
  }

  @Test func `media with a header of 65,500 by 65,500 pixels are kept as they are`() async throws {
    let sample = try CaptureSample()
    try sample.write("x/capture-info.json", Self.info([:]))
    try sample.write("x/x.json", #"{"points": [\#(Self.point)]}"#)
    let side: [UInt8] = [0xFF, 0xDC]
    let bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8] + side + side + [1, 1, 0x11, 0]
    try sample.write("x/x.jpg", bytes)
    try sample.write("x/x.png", Array(CaptureSample.picture.prefix(30)))
    _ = try await sample.load()
    try await sample.withCatalogue { catalogue in
      let files = try await catalogue.store.read { (snapshot) throws(FieldpackError) in
        try snapshot.files(of: .integer(1))
      }
      #expect(files.map(\.width) == [65_500, 4])
      #expect(files.map(\.contentType) == ["image/jpeg", "image/png"])
    }
  }
}
