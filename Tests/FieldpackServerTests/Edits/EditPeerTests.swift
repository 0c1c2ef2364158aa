import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Clients of other projects edit features.
  @Suite(.programs) struct EditPeerTests {
    @Test(.enabled(if: Programs.curl != nil, Comment(rawValue: Programs.noCurl)))
    func `curl creates, changes and deletes a feature`() async throws {
      let server = try await TestServer.withRules()
      let items = server.address + "/collections/sites/items"
      func curl(_ arguments: String...) async throws -> String {
        let words = ["-sS", "-o", "/dev/null", "-w", "%{http_code} %header{location}"] + arguments
        let result = try await Program.run(Programs.curl ?? "", words)
        #expect(result.status == 0, "\(result)")
        return result.output
      }
      let geoJSON = "Content-Type: application/geo+json"
      let patch = "Content-Type: application/merge-patch+json"
      #expect(
        try await curl("-H", geoJSON, items, "-d", TestServer.site("a")) == "201 \(items)/1")
      // In chunks, whose length is not known before.
      #expect(
        try await curl(
          "-H", geoJSON, "-H", "Transfer-Encoding: chunked", items, "-d", TestServer.site("b"))
          == "201 \(items)/2")
      let visits = #"{"properties":{"visits":7}}"#
      #expect(try await curl("-X", "PATCH", "-H", patch, "\(items)/1", "-d", visits) == "204 ")
      let stale = "If-Match: \"stale\""
      #expect(
        try await curl("-X", "PATCH", "-H", patch, "-H", stale, "\(items)/1", "-d", "{}") == "412 ")
      #expect(try await curl("-X", "DELETE", "\(items)/2") == "204 ")
      #expect(try await curl(items, "-d", TestServer.site("c")) == "415 ")
      #expect(try await server.texts("SELECT name, visits FROM sites") == ["a|7"])
      await server.close()
    }

    /// What QGIS 3.32 and later sends, by its source: `Content-Crs` without brackets, all columns of a new
    /// feature with the id among them, `OPTIONS` of a feature that is not there, and no `If-Match`.
    @Test func `edits as QGIS sends them are taken`() async throws {
      let server = try await TestServer.withRules()
      #expect(
        try await server.edit("OPTIONS", "plots/items/unknown_id").fields["Allow"]
          == "GET, HEAD, OPTIONS, PUT, PATCH, DELETE")
      let utm: HTTPFields = ["Content-Crs": "http://www.opengis.net/def/crs/EPSG/0/25832"]
      let ring = "[[[[500000,1],[500001,1],[500000,2],[500000,1]]]]"
      let new = try await server.edit(
        "POST", "plots/items",
        #"{"geometry":{"coordinates":\#(ring),"type":"MultiPolygon"},"#
          + #""properties":{"fid":null,"use":"field"},"type":"Feature"}"#, fields: utm)
      #expect(new.status == 201, "\(new.text)")
      #expect(new.fields["Location"] == server.address + "/collections/plots/items/1")
      let north: HTTPFields = ["Content-Crs": "http://www.opengis.net/def/crs/EPSG/0/4326"]
      let changes: [(body: String, fields: HTTPFields)] = [
        (#"{"properties":{"use":"wood"}}"#, [:]),
        (
          #"{"geometry":{"coordinates":[[[[1,9],[1,9.1],[2,9],[1,9]]]],"type":"MultiPolygon"}}"#,
          north
        ),
      ]
      for (body, fields) in changes {
        let answer = try await server.edit("PATCH", "plots/items/1", body, fields: fields)
        #expect(answer.status == 204, "\(answer.text)")
      }
      #expect(try await server.ids("/collections/plots/items?bbox=9,1.5,9.1,2&use=wood") == [1])
      #expect(try await server.edit("DELETE", "plots/items/1").status == 204)
      await server.close()
    }

    /// Schemathesis makes requests from the API document: what is right, what is wrong, and chains of them.
    ///
    /// Two things are not asked: whether all that the document allows is accepted, because OpenAPI cannot tell
    /// the columns of each collection and conditions in CQL2; and whether more than the largest `limit` is
    /// refused, because the standard wants it taken.
    @Test(
      .enabled(if: Programs.schemathesis != nil, Comment(rawValue: Programs.noSchemathesis)))
    func `the server keeps to its API document`() async throws {
      let server = try await TestServer.withRules()
      _ = try await server.addSite("a")
      _ = try server.folder.write(
        """
        [checks]
        positive_data_acceptance.enabled = false
        [[operations]]
        include-operation-id = "getItems"
        checks.negative_data_rejection.enabled = false
        """, to: "schemathesis.toml")
      let result = try await Program.run(
        Programs.schemathesis ?? "",
        [
          "run", server.address + "/api?f=json", "--phases", "coverage,fuzzing,stateful",
          "-n", "3", "--seed", "1", "--generation-database", "none",
          // Their answers have no end.
          "--exclude-operation-id", "followEvents", "--exclude-operation-id", "followCollection",
          "--no-color", "--continue-on-failure",
        ], folder: server.folder.url)
      #expect(result.status == 0, "\(result.output.suffix(6_000))\n\(result.error)")
      await server.close()
    }
  }
#endif
