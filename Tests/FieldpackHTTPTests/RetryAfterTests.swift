import FieldpackCore
import Testing

@testable import FieldpackHTTP

@Suite struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
  private static let example = Instant(milliseconds: 784_111_777_000)

  @Test(arguments: [
    ("0", 0), ("120", 120), ("3601", 3_600), ("99999999999999999999", 3_600),
    ("Sun, 06 Nov 1994 08:49:37 GMT", 10), ("Sun, 06 Nov 1994 08:49:26 GMT", 0),
    ("Thu, 31 Dec 2099 23:59:59 GMT", 3_600),
  ])
  func `a server asks for seconds or a moment`(value: String, seconds: Int) {
    let response = HTTPResponse(
      status: 503, fields: ["retry-after": value], body: [], url: "http://a")
    let now = Instant(milliseconds: Self.example.milliseconds - 10_000)
    #expect(response.retryAfter(at: now) == .seconds(seconds))
  }

  @Test(arguments: [
    "", "-1", "1.5", "soon", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 28:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
  ])
  func `what is neither asks for nothing`(value: String) {
    let response = HTTPResponse(
      status: 503, fields: ["Retry-After": value], body: [], url: "http://a")
    #expect(response.retryAfter(at: Self.example) == nil)
    #expect(
      HTTPResponse(status: 503, fields: [:], body: [], url: "").retryAfter(at: Self.example) == nil)
  }

  @Test func `an error of a status keeps what the server asks for`() throws {
    let fields: HTTPFields = ["Retry-After": "40"]
    let response = HTTPResponse(status: 503, fields: fields, body: [], url: "http://a")
    let error = #expect(throws: FieldpackError.self) { try response.checked("it") }
    #expect(error?.httpFailure == .status(503, asked: .seconds(40)))
    #expect(error?.askedPause == .seconds(40))
  }
}
