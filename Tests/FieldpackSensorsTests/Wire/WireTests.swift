import FieldpackCore
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

/// The answers of real services are read, whatever their namespace is (W2).
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct WireTests {
  /// The body with its namespace replaced; the empty one leaves it out.
  private func moved(_ body: [UInt8], to namespace: String) -> [UInt8] {
    var text = String(decoding: body, as: UTF8.self)
    for known in SensorNamespace.all {
      text = text.replacingOccurrences(of: "\"\(known)\"", with: "\"\(namespace)\"")
    }
    // No prefix can stand for no namespace.
    if namespace.isEmpty {
      text = text.replacing(#/ xmlns:(q|ns3)=""/#, with: "").replacing(
        #/(q|ns3):type/#, with: "type")
    }
    return Array(text.utf8)
  }

  @Test(arguments: SensorNamespace.all + [""])
  func allAnswersAreReadInEveryNamespace(namespace: String) throws {
    let all = try Transcript.service() + Transcript.samples()
    #expect(all.count == 46)
    var statuses: [String: Int] = [:]
    for transcript in all where transcript.status == 200 {
      let original = try SensorResult(xml: transcript.body)
      let result = try SensorResult(xml: moved(transcript.body, to: namespace))
      #expect(result.namespace == (namespace.isEmpty ? nil : namespace))
      #expect(result.metadata == original.metadata)
      #expect(result.captureIds == original.captureIds)
      #expect(try result.data?.all() == original.data?.all())
      statuses[result.statusText, default: 0] += 1
    }
    #expect(
      statuses == [
        "success": 32, "lockNotHeld": 2, "lockHeldByAnother": 4, "failure": 2,
        "noSuchParamter": 1, "unsupported": 1, "invalidId": 2, "sensorBusy": 1,
      ])
  }

  @Test func picturesComeOutWhole() throws {
    let samples = try Transcript.samples().map { try SensorResult(xml: $0.body) }
    let hashes = try samples.compactMap { try $0.data.map { SHA256.hex(try $0.all()) } }
    #expect(hashes.map { String($0.prefix(8)) } == ["94973fec", "1b00eca3"])
    // The picture is a PNG although the metadata says otherwise.
    let thrifty = samples[6]
    #expect(thrifty.metadata?["contentType"] == .string("image/bmp"))
    #expect(try MediaType(thrifty.data?.prefix(12) ?? []) == .png)
  }

  @Test func informationIsReadWithItsTypes() throws {
    let sample = try SensorResult(xml: Transcript.samples()[0].body)
    let height = sample.metadata?.parameter("height")
    #expect(height?.type == "unsignedInt")
    #expect(height?.defaultValue == .text("600", type: "int"))
    #expect(sample.metadata?.parameter("submodality")?.isReadOnly == true)
    let service = try SensorResult(xml: Transcript.service()[0].body)
    #expect(service.metadata?.items.count == 24)
    let turtles = try #require(service.metadata?.parameter("turtleCount"))
    #expect(turtles.allowedValues == [.text("2", type: "integer"), .text("32", type: "integer")])
    #expect(turtles.supportsMultiple == true)
    #expect(
      service.metadata?.setting("livePreview")
        == .array([
          .resource(
            SensorResource(
              uri: "http://localhost/simulatedservice/stream/locked/uuid",
              contentType: "multipart/x-mixed-replace;boundary=foo", relationship: "livePreview")),
          .resource(
            SensorResource(
              uri: "http://localhost/simulatedservice/stream/public",
              contentType: "multipart/x-mixed-replace;boundary=foo", relationship: "livePreview")),
        ]))
  }
}

/// What we write is valid by the schemas of the specifications.
@Suite(.programs, .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct RequestBodyTests {
  /// Another program reads our bodies with the schemas of the specifications.
  @Test(arguments: [("WSBD_urn-oid-3.1.xsd", 1), ("wsbd-1.0_jWSBD.xsd", 3)])
  func bodiesAreValid(schema: String, namespace: Int) async throws {
    var all: SensorDictionary = [
      "width": .integer(800), "ratio": .double(0.1), "flash": .boolean(true),
      "name": .string("a < b & \"c\""), "big": .text("4294967295", type: "unsignedInt"),
      "none": .null, "list": .array([.integer(1), .string("x")]),
      "range": .range(SensorRange(minimum: .integer(1), maximum: .integer(2))),
      "fine": .resolution(SensorResolution(width: 500, height: 500, unit: "ppi")),
      "own": .parameter(
        SensorParameter(
          "own", type: "int", isReadOnly: false, defaultValue: .integer(1),
          allowedValues: [.integer(1), .integer(2)])),
      "inner": .dictionary(["a": .integer(-1)]),
    ]
    // The older schema has no resources.
    if namespace == 3 {
      all["stream"] = .resource(SensorResource(uri: "http://a/b", contentType: "image/png"))
    }
    let folder = try TemporaryFolder()
    for (number, configuration) in [all, [:]].enumerated() {
      let body = configuration.configurationBody(namespace: SensorNamespace.all[namespace])
      let file = folder.file("\(number).xml")
      try Data(body).write(to: file)
      let result = try await Program.run(
        "xmllint", ["--noout", "--schema", Transcript.schema(schema).path, file.path])
      #expect(result.status == 0, "\(result)")
      // What we write we read again.
      let answer = String(decoding: body, as: UTF8.self)
        .replacingOccurrences(of: "<configuration", with: "<result")
        .replacingOccurrences(of: "</configuration>", with: "</metadata></result>")
      if let end = answer.range(of: ">"), number == 0 {
        let xml = answer.replacingCharacters(
          in: end, with: "><status>success</status><metadata>")
        #expect(try SensorResult(xml: Array(xml.utf8)).metadata == configuration)
      }
    }
  }
}

/// What no service should answer gives an error and nothing else.
@Suite struct HostileAnswerTests {
  @Test(arguments: [
    "", "<html></html>", "<result/>", "<result><status/></result>",
    "<result xmlns='urn:other'><status>success</status></result>",
    "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'>]><result><status>&a;</status></result>",
    "<result><status>success</status><sensorData>QUJ</sensorData></result>x",
    "<result><status>success</status><sensorData>Q</sensorData></result>",
    "<result><status>success</status><sensorData>!!!!</sensorData></result>",
    "<result><status>success</status><sensorData>QUJD</sensorData><sensorData/></result>",
    "<result><status>success</status><captureIds><element>../../etc</element></captureIds></result>",
    "<result><status>success</status><sessionId></sessionId></result>",
  ])
  func isRefused(text: String) {
    let error = #expect(throws: FieldpackError.self) { try SensorResult(xml: Array(text.utf8)) }
    #expect(error?.code == .invalidData)
  }

  @Test func aDeepOrLongAnswerIsRefused() {
    let deep =
      String(repeating: "<metadata>", count: 300) + String(repeating: "</metadata>", count: 300)
    let long = "<message>" + String(repeating: "a", count: 5 << 20) + "</message>"
    let many = String(repeating: "<a/>", count: 60_000)
    for inner in [deep, long, many] {
      let text = "<result><status>success</status>\(inner)</result>"
      let error = #expect(throws: FieldpackError.self) { try SensorResult(xml: Array(text.utf8)) }
      #expect(error?.code == .invalidData)
    }
  }

  @Test func dataGoesToItsPlaceInPiecesOfAnySize() throws {
    let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let xml = Array(
      "<result><status>success</status><sensorData>\(Base64.encode(bytes))</sensorData></result>"
        .utf8)
    for size in [1021, 65_536, xml.count] {
      let data = SpooledBytes()
      let parser = try SensorResultParser(into: data)
      for start in stride(from: 0, to: xml.count, by: size) {
        try xml[start..<min(start + size, xml.count)].withUnsafeBytes { try parser.push($0) }
      }
      let result = try parser.finish()
      #expect(result.data === data)
      #expect(data.count == bytes.count)
      #expect(try data.all() == bytes)
    }
    // A long capture goes to a file: there is none for it in a folder that is not there.
    let parser = try SensorResultParser(into: SpooledBytes(folder: "/nonexistent"))
    let error = #expect(throws: FieldpackError.self) {
      try xml.withUnsafeBytes { try parser.push($0) }
    }
    #expect(error?.message.contains("create a temporary file in /nonexistent") == true)
  }

  @Test func tooLongACaptureIsRefused() throws {
    let parser = try SensorResultParser(into: SpooledBytes(), limit: 5)
    let xml = Array("<result><status>success</status><sensorData>QUJDREVG</sensorData>".utf8)
    let error = #expect(throws: FieldpackError.self) {
      try xml.withUnsafeBytes { try parser.push($0) }
    }
    #expect(error?.message.contains("longer than 5 bytes") == true)
  }
}
