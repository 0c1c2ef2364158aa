import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackSensors
import FieldpackTestSupport
import Testing

@testable import FieldpackServer

#if Server
  /// The log of what operators click.
  @Suite(.programs)
  struct SensorInteractionTests {
    /// What a server has logged, whose operator has clicked.
    private func logged(_ logsInteractions: Bool) async throws -> [String] {
      let server = try await TestServer(
        isWritable: true,
        configure: { options, _ in
          (options.hasSensors, options.logsInteractions) = (true, logsInteractions)
        })
      let item = #"{"modality":"Face","submodality":"Face2d"}"#
      for (method, path, body, status) in [
        ("POST", "persons", #"{"lastName":"a secret"}"#, 200),
        ("PUT", "persons/1", #"{"lastName":"a secret"}"#, 200),
        ("POST", "persons/1/items", item, 200), ("POST", "persons/1/duplicate", "", 200),
        ("PATCH", "items/1", #"{"notes":"a secret"}"#, 200), ("POST", "items/1/clear", "", 200),
        // There is no sensor behind it: nothing is done.
        ("POST", "items/1/tap", "", 409),
        ("DELETE", "items/1", "", 200), ("DELETE", "persons/2", "", 200),
      ] {
        let answer = try await server.get("/sensors/" + path, method, body: body)
        #expect(answer.status == status, "\(method) \(path): \(answer.text)")
      }
      let rows = try await server.store.read {
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        guard try snapshot.schema(of: InteractionLog.layer) != nil else { return [String]() }
        return try snapshot.features(Query(InteractionLog.layer)).map { row in
          let key = row.attributes["key"].flatMap { KeyTuple($0.plainText) }
          return "\(row.attributes["what"]?.plainText ?? "") "
            + (key.map { "\($0.layer) \($0.feature)" } ?? "")
        }
      }
      await server.close()
      return rows
    }

    @Test func `clicks are logged only where that is asked for`() async throws {
      #expect(try await logged(false) == [])
      #expect(
        try await logged(true) == [
          "person add bio_person 1", "person edit bio_person 1", "item setup bio_person 1",
          "person duplicate bio_person 1", "item edit bio_item 1", "item clear bio_item 1",
          "item delete bio_item 1", "person delete bio_person 2",
        ])
    }
  }
#endif
