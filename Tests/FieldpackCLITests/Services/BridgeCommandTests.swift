import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack bridge`.
@Suite(.programs) struct BridgeCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  /// What goes on ends with the input.
  private static let replies = #"""
    {"event":"a","data":{"type":110,"payload":{"type":"Feature","id":"c2lnaHRz.ZGVmYXVsdA==.ZG9t",\#
    "properties":{"name":"Dom","depth":3.5},"metadata":{"client":"X","storeId":"sights",\#
    "layerId":"default"},"geometry":{"type":"Point","coordinates":[13.401,52.519]},\#
    "bbox":[13.401,52.519,13.401,52.519],\#
    "crs":{"type":"name","properties":{"name":"EPSG:4326"}}}}}
    {"event":"a_completed","data":{"type":110}}
    {"event":"b","data":{"type":"v1/DATASERVICE_FORMLIST","payload":{"forms":[]}}}
    {"event":"error","data":{"domain":"SCJavascriptBridgeErrorDomain","code":0,\#
    "message":"the message is no JSON: byte 0: expected a value"}}
    {"event":"c_error","data":{"domain":"SCJavascriptBridgeErrorDomain","code":701,\#
    "message":"no config names a backend"}}
    {"event":"b_completed","data":{"type":"v1/DATASERVICE_FORMLIST"}}

    """#

  @Test func `a message a line is answered by a reply a line`() async throws {
    let messages = """
      {"type":110,"payload":{"filter":{"limit":1},"storeId":["sights"]},"responseId":"a"}

      {"type":"v1/DATASERVICE_FORMLIST","responseId":"b"}\r
      nonsense
      {"type":701,"responseId":"c"}
      """
    let result = try await survey.run("bridge", "survey.scfg", input: messages)
    let output = result.output.replacing(#/"client":"[0-9A-F-]{36}"/#, with: "\"client\":\"X\"")
    #expect(output == Self.replies)
    #expect(result.status == 0)
  }

  private static let sentences = """
    $GPGGA,100000.00,5230.0000,N,01324.0000,E,1,08,1.0,34.0,M,0.0,M,,*63
    $GPRMC,100000.00,A,5230.0000,N,01324.0000,E,0.0,0.0,010524,,,A*5D

    """

  /// A GPX file, which is replayed, and a pipe, as a receiver is one.
  @Test(arguments: [("walk.gpx", "null"), ("gps", #""5""#)])
  func `pages learn where this device is`(source: String, accuracy: String) async throws {
    _ = try survey.folder.write(Self.sentences, to: "gps.nmea")
    // What follows is asked once the position is there.
    let script = #"""
      mkfifo gps; cat gps.nmea >gps 2>/dev/null &
      {
        echo '{"type":200,"payload":1}'
        while ! grep -q '"event":"200"' out; do sleep 0.02; done
        echo '{"type":110,"payload":{"storeId":["LOCATION_STORE"]},"responseId":"q"}'
        echo '{"type":200,"payload":0}'
      } | "$0" bridge survey.scfg --fixes "$1" >out
      status=$?; kill $! 2>/dev/null; exit $status
      """#
    let result = try await Program.run(
      "sh", ["-c", script, Tool.path, source], folder: survey.folder.url)
    #expect([result.status] == [0], "\(result)")
    let out = try survey.text("out").replacing(
      #/"client":"[0-9A-F-]{36}"/#, with: "\"client\":\"X\"")
    #expect(
      out.split(separator: "\n").map(String.init).sorted()
        == Self.positions + [
          #"{"event":"q","data":{"type":110,"payload":{"type":"Feature","#
            + #""id":"TE9DQVRJT05fU1RPUkU=.bGFzdF9rbm93bl9sb2NhdGlvbg==.MQ==","properties":"#
            + #"{"accuracy":\#(accuracy),"timestamp":1714557600000},"metadata":{"client":"X","#
            + #""storeId":"LOCATION_STORE","layerId":"last_known_location"},"geometry":"#
            + #"{"type":"Point","coordinates":[13.4,52.5,34]},"bbox":[13.4,52.5,13.4,52.5],"#
            + #""crs":{"type":"name","properties":{"name":"EPSG:4326"}}}}}"#,
          #"{"event":"q_completed","data":{"type":110}}"#,
        ], "\(out)")
    // Once it is switched off, it stays so.
    let later = try await survey.run("bridge", "survey.scfg", "--fixes", source, input: "")
    #expect([later.output, later.error] == ["", ""])
  }

  private static let positions = [
    #"{"event":"200","data":{"type":200,"payload":{"latitude":52.5,"longitude":13.4,"altitude":34}}}"#,
    #"{"event":"200_completed","data":{"type":200}}"#,
    #"{"event":"200_completed","data":{"type":200}}"#,
    #"{"event":"lastKnownLocation","data":{"type":"lastKnownLocation","#
      + #""payload":{"latitude":52.5,"longitude":13.4,"altitude":34}}}"#,
  ]

  @Test func `positions come from a source that is there, and is not the messages`() async throws {
    let none = try await survey.run("bridge", "survey.scfg", "--fixes", "/dev/none", input: "")
    #expect(none.status == 66, "\(none.error)")
    let same = try await survey.run("bridge", "survey.scfg", "--fixes", "-", input: "")
    #expect(same.error.contains("standard input holds the messages"))
    #expect(same.status == 64)
  }

  @Test func `a config that is not there, and a message without an end, are errors`() async throws {
    let none = try await survey.run("bridge", "none.scfg", input: "")
    #expect(none.status == 66)
    let long = try await survey.run(
      "bridge", "survey.scfg", input: String(repeating: "x", count: (16 << 20) + 1))
    #expect(long.error.contains("the message is longer than 16 MiB"))
    #expect(long.status == 65)
  }
}
