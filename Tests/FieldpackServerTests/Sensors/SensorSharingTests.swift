import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackSensors
import FieldpackTestSupport
import Testing

@testable import FieldpackServer

#if Server
  /// Several operators, and other programs, work with the same persons.
  @Suite(.programs) struct SensorSharingTests {
    private func server(requiresIfMatch: Bool = false) async throws -> TestServer {
      try await TestServer(
        isWritable: true, requiresIfMatch: requiresIfMatch,
        configure: { options, _ in options.hasSensors = true })
    }

    // MARK: Entity tags

    @Test func `a form replaces only the details that it shows`() async throws {
      let server = try await server()
      let made = try await server.get("/sensors/persons", "POST", body: #"{"lastName":"Ada"}"#)
      let tag = try #require(made.fields["ETag"])
      #expect(try made.json["tag"] == .text(tag))
      func put(_ name: String, _ match: String?) async throws -> TestServer.Answer {
        try await server.get(
          "/sensors/persons/1", "PUT", fields: match.map { ["If-Match": $0] } ?? [:],
          body: #"{"lastName":"\#(name)"}"#)
      }
      // What is captured of a person is not in the form.
      let item = #"{"modality":"Face","submodality":"Face2d"}"#
      #expect(
        try await server.get("/sensors/persons/1/items", "POST", body: item).fields["ETag"] == tag)
      let first = try await put("Eve", tag)
      #expect(first.status == 200)
      #expect(first.fields["ETag"] != tag)
      for old in [tag, "W/\(first.fields["ETag"] ?? "")", "\"x\""] {
        let refused = try await put("Bob", old)
        #expect(refused.status == 412)
        #expect(try refused.json["detail"] == "The person has been changed since it was read.")
      }
      let now = try await server.get("/sensors/persons/1")
      #expect(try now.json["name"] == "Eve")
      #expect(now.fields["ETag"] == first.fields["ETag"])
      for (name, match) in [("Ann", now.fields["ETag"]), ("Eva", "*"), ("Ida", nil)] {
        #expect(try await put(name, match).status == 200)
      }
      #expect(try await server.get("/sensors/persons/1").json["name"] == "Ida")
      #expect(try await server.get("/sensors/persons/2").status == 404)
      await server.close()
    }

    @Test func `a server may want the tag of each form`() async throws {
      let server = try await server(requiresIfMatch: true)
      let made = try await server.get("/sensors/persons", "POST", body: "{}")
      #expect(made.status == 200)
      #expect(try await server.get("/sensors/persons/1", "PUT", body: "{}").status == 428)
      let fields: HTTPFields = ["If-Match": made.fields["ETag"] ?? ""]
      #expect(
        try await server.get("/sensors/persons/1", "PUT", fields: fields, body: "{}").status == 200)
      await server.close()
    }

    // MARK: Other programs

    /// The other program has a store of its own on the same file.
    @Test func `pages are told what other programs change`() async throws {
      let server = try await server()
      let client = try await EventClient(server, "/sensors/events")
      let store = try await GeoPackageStore(path: server.store.path, id: "field")
      let others = PersonCatalogue(store)
      func told() async throws -> (String, JSONValue) {
        let event = try #require(try await client.next())
        return (event.name, event.json)
      }
      var details = PersonDetails()
      details.lastName = "Kowalski"
      let person = try await others.add(details)
      var (kind, data) = try await told()
      #expect(kind == "person")
      #expect(data["name"] == "Kowalski")
      let item = try await others.add(
        ItemDraft(modality: .finger, captureType: .leftSlap), to: person.key)
      (kind, data) = try await told()
      #expect(kind == "person")
      guard case .array(let items)? = data["items"] else { throw TestFailure() }
      #expect(items.map { $0["title"]?.string } == ["Left Slap"])
      try await others.annotate(item.key, notes: "bandaged")
      (kind, data) = try await told()
      #expect(kind == "item")
      #expect(data["id"] == .integer(1))
      #expect(data["notes"] == .text("bandaged"))
      // The same holds for what comes to this server by another way.
      let patch = try await server.get(
        "/collections/bio_item/items/1", "PATCH",
        fields: ["Content-Type": "application/merge-patch+json"],
        body: #"{"properties":{"notes":"healed"}}"#)
      #expect(patch.status == 204)
      (kind, data) = try await told()
      #expect(kind == "item")
      #expect(data["notes"] == "healed")
      try await others.delete([person.key])
      (kind, data) = try await told()
      #expect(kind == "gone")
      #expect(data["person"] == .integer(1))
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        for number in 0..<60 {
          let attributes: Attributes = [
            "last_name": .text("\(number)"), "created_at": .dateTime(Instant(milliseconds: 0)),
          ]
          try writer.create(Feature(attributes: attributes), in: SensorLayers.person)
        }
      }
      (kind, data) = try await told()
      #expect(kind == "everything")
      #expect(data == .object([]))
      await store.close()
      await server.close()
    }

    @Test func `pages are told only what differs from what they were told`() {
      let person = KeyTuple(store: "s", layer: SensorLayers.person, feature: 1)
      let known = Person(key: person, createdAt: Instant(milliseconds: 0))
      let before = ToldPersons([known], [])
      #expect(before.changes(to: before) == [])
      var edited = known
      edited.details.lastName = "Ada"
      let other = Person(
        key: KeyTuple(store: "s", layer: SensorLayers.person, feature: 2),
        createdAt: Instant(milliseconds: 0))
      #expect(
        before.changes(to: ToldPersons([other, edited], [])) == [
          .person(person), .person(other.key),
        ])
      #expect(before.changes(to: ToldPersons([], [])) == [.gone(person: person)])
      var told = before
      told.note(edited, [])
      #expect(told.changes(to: ToldPersons([edited], [])) == [])
    }
  }
#endif
