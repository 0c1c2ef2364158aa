import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Edits that are refused: each with its status and reason, and without a change.
  @Suite struct BadEditTests {
    private static func properties(_ text: String) -> String {
      #"{"type":"Feature","geometry":null,"properties":\#(text)}"#
    }

    private static func geometry(_ text: String) -> String {
      #"{"type":"Feature","geometry":\#(text),"properties":{"name":"a"}}"#
    }

    private static let features: [(body: String, status: Int, detail: String)] = [
      ("", 400, "byte 0: the body is no JSON: expected a value"),
      ("{\"type\":", 400, "byte 8: the body is no JSON: expected a value"),
      ("[1", 400, "byte 2: the body is no JSON: expected ',' or ']'"),
      ("[]", 400, "the body is an array, and not a GeoJSON Feature"),
      ("{}", 400, "the body is no GeoJSON Feature: its member 'type' is not \"Feature\""),
      (
        #"{"type":"Point","coordinates":[1,2]}"#, 400,
        "the body is no GeoJSON Feature: its member 'type' is not \"Feature\""
      ),
      (
        #"{"type":"Feature","properties":{"name":"a"}}"#, 400,
        "a Feature has a member 'geometry', which may be null"
      ),
      (
        #"{"type":"Feature","geometry":null}"#, 400,
        "a Feature has a member 'properties', which may be null"
      ),
      (
        #"{"type":"Feature","id":{},"geometry":null,"properties":{"name":"a"}}"#, 400,
        "the id of a feature is neither a text nor a number"
      ),
      (properties("[]"), 400, "'properties' is an array, and not an object or null"),
      (
        properties(#"{"name":"a","deptj":1}"#), 400,
        "collection 'sites' has no property 'deptj', did you mean 'depth'?"
      ),
      (properties(#"{"name":7}"#), 400, "property 'name' is TEXT(20) and cannot hold a number"),
      (
        properties(#"{"name":"aaaaaaaaaaaaaaaaaaaaa"}"#), 400,
        "property 'name' is TEXT(20) and cannot hold a text that is longer"
      ),
      (
        properties(#"{"name":"a","depth":"deep"}"#), 400,
        "property 'depth' is REAL and cannot hold a text"
      ),
      (
        properties(#"{"name":"a","depth":1e999}"#), 400,
        "property 'depth' is REAL and cannot hold a number that is out of its range"
      ),
      (
        properties(#"{"name":"a","visits":70000}"#), 400,
        "property 'visits' is SMALLINT and cannot hold a number that is out of its range"
      ),
      (
        properties(#"{"name":"a","visits":true}"#), 400,
        "property 'visits' is SMALLINT and cannot hold true or false"
      ),
      (
        properties(#"{"name":"a","dry":"yes"}"#), 400,
        "property 'dry' is BOOLEAN and cannot hold a text"
      ),
      (
        properties(#"{"name":"a","drilled":"2024-02-30"}"#), 400,
        "property 'drilled' is DATE and cannot hold a text that is no date such as 2024-01-31"
      ),
      (
        properties(#"{"name":"a","seen":"yesterday"}"#), 400,
        "property 'seen' is DATETIME and cannot hold a text that is no instant such as "
          + "2024-01-31T08:00:00Z"
      ),
      (
        properties(#"{"name":"a","photo":"*"}"#), 400,
        "property 'photo' is BLOB(8) and cannot hold a text that is no Base64, or too long"
      ),
      (
        properties(#"{"name":"a","state":{"x":1}}"#), 400,
        "property 'state' is TEXT and cannot hold an object"
      ),
      (properties("null"), 422, "property 'name' cannot be null"),
      (
        properties(#"{"name":"a","state":"old"}"#), 422,
        "column 'state' of layer 'sites' cannot hold the value 'old': "
          + "its constraint 'states' allows one of 'new', 'known'"
      ),
      (
        properties(#"{"name":"a","depth":501}"#), 422,
        "column 'depth' of layer 'sites' cannot hold the value '501.0': "
          + "its constraint 'depths' allows at least 0 and at most 500"
      ),
      (properties(#"{"name":"taken"}"#), 409, "another feature has that value of property 'name'"),
      (
        geometry(#"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#), 422,
        "layer 'sites' takes POINT, the feature has LINESTRING"
      ),
      (
        geometry(#"{"type":"Point","coordinates":[1,91]}"#), 422,
        "the geometry does not lie on the earth"
      ),
    ]

    @Test func `a bad feature is refused with its reason, and changes nothing`() async throws {
      let server = try await TestServer.withRules()
      _ = try await server.addSite("taken")
      for (body, status, detail) in Self.features {
        let answer = try await server.edit("POST", "sites/items", body)
        #expect(answer.status == status, "\(body): \(answer.text)")
        #expect(answer.fields["Content-Type"] == "application/problem+json")
        #expect(try answer.json["detail"]?.string == detail, "\(body): \(answer.text)")
      }
      for geometry in [
        #"{"type":"Point"}"#, #"{"type":"Point","coordinates":"1,2"}"#, "7",
        #"{"coordinates":[1,2]}"#, #"{"type":"Circle","coordinates":[1,2]}"#,
        #"{"type":"Point","coordinates":[1e999,2]}"#,
      ] {
        let answer = try await server.edit("POST", "sites/items", Self.geometry(geometry))
        #expect(answer.status == 400, "\(geometry): \(answer.text)")
        let detail = try answer.json["detail"]?.string ?? ""
        #expect(detail.hasPrefix("the geometry is no GeoJSON geometry: "), "\(detail)")
      }
      #expect(try await server.texts("SELECT name FROM sites") == ["taken"])
      await server.close()
    }

    private static let changes: [(method: String, body: String, status: Int, detail: String)] = [
      (
        "PUT", #"{"type":"Feature","id":2,"geometry":null,"properties":{"name":"a"}}"#, 400,
        "the id in the body is '2', and the address has 1"
      ),
      ("PATCH", #"{"id":2}"#, 400, "the id in the body is '2', and the address has 1"),
      ("PATCH", #"{"id":null}"#, 400, "the id of a feature is neither a text nor a number"),
      (
        "PATCH", #"{"properties":{"fid":2}}"#, 400,
        "property 'fid' is the id of the feature, which stays"
      ),
      (
        "PATCH", #"{"type":null}"#, 400,
        "the body is no GeoJSON Feature: its member 'type' is not \"Feature\""
      ),
      ("PATCH", "7", 400, "the body is a number, and not a GeoJSON Feature"),
      ("PATCH", #"{"properties":{"name":null}}"#, 422, "property 'name' cannot be null"),
      (
        "PATCH", #"{"properties":{"name":"second"}}"#, 409,
        "another feature has that value of property 'name'"
      ),
      ("PUT", properties("{}"), 422, "property 'name' cannot be null"),
    ]

    @Test func `a bad change is refused with its reason, and changes nothing`() async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite("first", #","depth":1"#)
      _ = try await server.addSite("second")
      let before = try await server.feature(path)
      for (method, body, status, detail) in Self.changes {
        let answer = try await server.edit(method, path, body)
        #expect(answer.status == status, "\(method) \(body): \(answer.text)")
        #expect(try answer.json["detail"]?.string == detail, "\(method) \(body): \(answer.text)")
      }
      #expect(try await server.feature(path) == before)
      await server.close()
    }

    @Test func `other media types are refused, and the right ones named`() async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite("a")
      let types: [(method: String, type: String, status: Int)] = [
        ("PATCH", "application/geo+json", 415), ("PATCH", "application/json", 415),
        ("PATCH", "Application/Merge-Patch+JSON; charset=\"utf-8\"", 204),
        ("PUT", "application/merge-patch+json", 415), ("PUT", "text/plain", 415),
        ("PUT", "application/json; charset=latin1", 415), ("PUT", "application/json", 204),
        ("PUT", "application/geo+json;charset=UTF-8", 204),
      ]
      for (method, type, status) in types {
        let answer = try await server.edit(
          method, path, TestServer.site("a"), fields: ["Content-Type": type])
        #expect(answer.status == status, "\(method) \(type): \(answer.text)")
        guard status == 415 else { continue }
        #expect(
          answer.fields[method == "PATCH" ? "Accept-Patch" : "Accept-Post"]
            == (method == "PATCH"
              ? "application/merge-patch+json" : "application/geo+json, application/json"))
      }
      #expect(try await server.get("/collections/sites/items", "POST", body: "{}").status == 415)
      await server.close()
    }

    @Test func `what is not there cannot be changed`() async throws {
      let server = try await TestServer.withRules()
      let site = TestServer.site("a")
      for path in ["sites/items/9", "sites/items/x", "sites/items/01", "none/items/1"] {
        #expect(try await server.edit("PUT", path, site).status == 404, "\(path)")
        #expect(try await server.edit("PATCH", path, "{}").status == 404, "\(path)")
        #expect(try await server.edit("DELETE", path).status == 404, "\(path)")
      }
      let fields: HTTPFields = ["If-Match": "*"]
      #expect(try await server.edit("PUT", "sites/items/9", site, fields: fields).status == 412)
      #expect(try await server.edit("POST", "sites/items?x=1", site).status == 400)
      #expect(try await server.texts("SELECT count(*) FROM sites") == ["0"])
      await server.close()
    }
  }
#endif
