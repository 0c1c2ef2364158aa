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

  @Test func `a config that is not there, and a message without an end, are errors`() async throws {
    let none = try await survey.run("bridge", "none.scfg", input: "")
    #expect(none.status == 66)
    let long = try await survey.run(
      "bridge", "survey.scfg", input: String(repeating: "x", count: (16 << 20) + 1))
    #expect(long.error.contains("the message is longer than 16 MiB"))
    #expect(long.status == 65)
  }
}
