import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// The page of an operator, and what it asks of the server.
  @Suite(.programs)
  struct SensorPageTests {
    /// A writable server with the page.
    private func server(hasSensors: Bool = true, isWritable: Bool = true) async throws -> TestServer
    {
      try await TestServer(
        isWritable: isWritable, configure: { options, _ in options.hasSensors = hasSensors })
    }

    private func sensor(
      _ modality: String, _ type: String
    ) throws -> (SensorSimulatorServer, String) {
      let server = SensorSimulatorServer(
        SensorSimulator(.init(modality: modality, submodality: [type])))
      return (server, "http://\(try server.listen(on: ListenAddress(port: 0)))")
    }

    @Test(
      .enabled(if: Programs.node != nil, Comment(rawValue: Programs.noNode)),
      .enabled(if: Programs.chromium != nil, Comment(rawValue: Programs.noChromium)))
    func `an operator works in Chromium with two sensors`() async throws {
      let server = try await server()
      let (finger, fingerAddress) = try sensor("Finger", "LeftSlap")
      let (face, faceAddress) = try sensor("Face", "Face2d")
      let result = try await Program.run(
        try #require(Programs.node),
        ["--test", Checkout.file("Tests/Browser/sensors.test.mjs").path],
        environment: [
          "CHROMIUM": try #require(Programs.chromium), "ADDRESS": server.address,
          "FINGER": fingerAddress, "FACE": faceAddress, "FOLDER": server.folder.url.path,
        ])
      #expect(result.status == 0, "\(result.output)\(result.error)")
      await server.close()
      for sensor in [finger, face] { await sensor.close() }
    }

    @Test func `there is no page unless it was asked for`() async throws {
      let server = try await server(hasSensors: false)
      #expect(try await server.get("/sensors").status == 404)
      #expect(try await server.get("/sensors/persons", "POST", body: "{}").status == 404)
      await server.close()
    }

    @Test func `whoever may only read changes nothing and asks no sensor`() async throws {
      let server = try await server(isWritable: false)
      #expect(try await server.get("/sensors").status == 200)
      #expect(try await server.get("/sensors/state").json["isWritable"] == .boolean(false))
      #expect(try await server.get("/sensors/persons", "POST", body: "{}").status == 403)
      let check = "/sensors/check?uri=http://127.0.0.1:1&modality=Face&submodality=Face2d"
      #expect(try await server.get(check).status == 403)
      #expect(try await server.get("/sensors/items/1/preview").status == 403)
      await server.close()
    }

    @Test func `the head of a thumbnail comes without the thumbnail`() async throws {
      let server = try await server()
      let persons = PersonCatalogue(server.store)
      let item = try await persons.add(
        ItemDraft(modality: .face, captureType: .face2d), to: try await persons.add().key)
      let device = SensorAddress(uri: "http://192.0.2.1", name: "")
      let picture = SimulatedPicture().make(1, 64)
      _ = try await GeoPackageJournal(server.store).post(
        SensorDownload(
          captureId: "a", device: device, item: item.key, metadata: nil,
          content: SpooledBytes(picture), contentType: "image/bmp"))
      for (name, type) in [("thumbnail", "image/png"), ("data", "image/bmp")] {
        let path = "/sensors/items/1/\(name)"
        let whole = try await server.get(path)
        let head = try await server.get(path, "HEAD")
        #expect(whole.status == 200)
        #expect(head.status == 200)
        #expect(whole.fields["Content-Type"] == type)
        #expect(head.fields["Content-Type"] == type)
        #expect(head.fields["Cache-Control"] == "private, no-store")
        #expect(head.body == [])
        let tag = try #require(head.fields["ETag"])
        #expect(whole.fields["ETag"] == tag)
        let same = try await server.get(path, "HEAD", fields: ["If-None-Match": tag])
        #expect(same.status == 304)
      }
      await server.close()
    }

    @Test func `mistakes are told and change nothing`() async throws {
      let server = try await server()
      let person = try await server.get(
        "/sensors/persons", "POST", body: #"{"lastName":"Ada"}"#)
      #expect(person.status == 200)
      #expect(try person.json["name"] == "Ada")
      let items = "/sensors/persons/1/items"
      for (method, path, body, status) in [
        ("POST", "/sensors/persons", "[]", 422),
        ("POST", "/sensors/persons", #"{"gender":"Elf"}"#, 400),
        ("POST", items, #"{"modality":"Face","submodality":"LeftSlap"}"#, 422),
        ("POST", items, #"{"modality":"Face","submodality":"Face2d","device":{"uri":""}}"#, 422),
        ("POST", "/sensors/persons/7/select", "", 404), ("POST", "/sensors/items/1/tap", "", 404),
        ("DELETE", "/sensors/persons", "", 405), ("POST", "/sensors/other", "", 405),
      ] {
        let answer = try await server.get(path, method, body: body)
        #expect(answer.status == status, "\(method) \(path) \(body): \(answer.text)")
        // What was sent may be about a person.
        #expect(!answer.text.contains("Elf"))
      }
      let item = try await server.get(
        items, "POST", body: #"{"modality":"Face","submodality":"Face2d"}"#)
      #expect(item.status == 200)
      let tap = try await server.get("/sensors/items/1/tap", "POST", body: "")
      #expect(tap.status == 409)
      #expect(tap.text.contains("there is no sensor behind this item"))
      #expect(try await server.get("/sensors/items/1/data").status == 404)
      let state = try await server.get("/sensors/state").json
      guard case .array(let persons)? = state["persons"],
        case .array(let left)? = persons[0]["items"]
      else {
        Issue.record("there are no persons in \(state.text)")
        return
      }
      #expect(persons.count == 1)
      #expect(left.map { $0["title"]?.string } == ["Face"])
      await server.close()
    }
  }
#endif
