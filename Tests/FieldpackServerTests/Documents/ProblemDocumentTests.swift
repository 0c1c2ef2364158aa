import FieldpackCore
import Testing

@testable import FieldpackServer

@Suite struct ProblemDocumentTests {
  /// The status while parameters, the resource and the body are at work.
  private static let statuses: [(FieldpackError.Code, [Int])] = [
    (.invalidArgument, [400, 400, 400]), (.invalidData, [400, 500, 422]),
    (.corrupt, [500, 500, 500]), (.notFound, [400, 404, 400]), (.unavailable, [503, 503, 503]),
    (.cannotCreate, [409, 409, 409]), (.io, [500, 500, 500]), (.full, [507, 507, 507]),
    (.busy, [503, 503, 503]), (.permission, [403, 403, 403]), (.readOnly, [403, 403, 403]),
    (.interrupted, [503, 503, 503]), (.constraint, [409, 409, 409]),
    (.unsupported, [400, 400, 400]), (.configuration, [500, 500, 500]),
  ]

  @Test func `every code has a status`() {
    #expect(Self.statuses.map(\.0) == FieldpackError.Code.all)
    for (code, expected) in Self.statuses {
      let found = [ProblemDocument.Activity.parameters, .resource, .body].map {
        ProblemDocument.status(of: code, while: $0)
      }
      #expect(found == expected, "\(code)")
      for status in found {
        #expect(!ProblemDocument.title(of: status).hasPrefix("Error"), "\(status)")
      }
    }
  }

  @Test func `a problem has the members of RFC 9457`() {
    let error = FieldpackError(
      .notFound, "layer 'wells' has no column 'depht', did you mean 'depth'?",
      position: FilePosition(line: 1, column: 5))
    let document = ProblemDocument(error, while: .parameters).document
    #expect(document.contentType == "application/problem+json")
    #expect(
      String(decoding: document.bytes, as: UTF8.self)
        == #"{"type":"about:blank","title":"Bad Request","status":400,"detail":"line 1:5: layer "#
        + #"'wells' has no column 'depht', did you mean 'depth'?","code":"notFound"}"#)
    #expect(
      ProblemDocument(404, "There is no such page.").json.text
        == #"{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no such page."}"#
    )
  }

  private static let secrets = [
    "/home/ann/field.gpkg cannot be read", "'/srv/data/a b.gpkg': no such file",
    "data/field.gpkg is no GeoPackage", #"C:\data\field.gpkg"#, "file:///etc/passwd",
    "near \"FROM\": SELECT * FROM wells", "PRAGMA journal_mode failed", "SQLite: disk I/O error",
    "no such table: gpkg_contents", "(/var/lib)", "see:/etc/passwd",
  ]

  @Test(arguments: FieldpackError.Code.all)
  func `no path and no SQL is told`(code: FieldpackError.Code) {
    for secret in Self.secrets {
      let error = FieldpackError(
        code, secret, advice: .exportFirst(file: secret), location: .init(store: "secret"),
        position: FilePosition(file: "/home/ann/x.gpkg", line: 3),
        underlying: FieldpackError(.io, secret))
      for activity in ProblemDocument.Activity.allCases {
        let problem = ProblemDocument(error, while: activity)
        let text = problem.json.text
        for word in ["/home", "/srv", "data", "etc", "SELECT", "PRAGMA", "SQL", "gpkg", "secret"] {
          // The codes `invalidData` and the like are ours.
          let told = text.replacing("\"code\":\"\(code.name)\"", with: "")
            .replacing("The data are in use", with: "")
          #expect(!told.contains(word), "\(told)")
        }
      }
    }
  }

  @Test(arguments: [
    "at line 1, column 12: expected a number",
    "at /args/1/bbox: expected an array of 4 or 6 numbers",
    "unknown reference system http://www.opengis.net/def/crs/EPSG/0/1",
    "column 'state' does not allow 'old': one of 'new', 'known'",
  ])
  func `mistakes of a request are told as they are`(message: String) {
    #expect(
      ProblemDocument(FieldpackError(.invalidArgument, message), while: .parameters).detail
        == message)
  }

  @Test func `a long text is cut`() {
    let error = FieldpackError(.invalidArgument, String(repeating: "x", count: 1 << 20))
    #expect(ProblemDocument(error, while: .parameters).detail.count == 2000)
  }

  @Test func `a problem is a page, too`() {
    let problem = ProblemDocument(400, "there is no parameter '<b>' here")
    let page = String(decoding: problem.page(base: SampleLayers.base).bytes, as: UTF8.self)
    #expect(page.contains("<h1>Bad Request</h1>"))
    #expect(
      page.contains("there is no parameter &apos;&lt;b&gt;&apos; here")
        || page.contains("there is no parameter '&lt;b&gt;' here"))
  }
}
