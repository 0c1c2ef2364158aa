import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackSensors
import Testing

/// Persons, their items and the sensors behind these (W4).
@Suite struct PersonCatalogueTests {
  private static var kowalski: PersonDetails {
    var details = PersonDetails()
    details.firstName = "Zofia"
    details.lastName = "Kowalski"
    details.aliases = ["Zo", "Fia"]
    details.datesOfBirth = ["1980-02-30"]
    details.gender = "Female"
    details.eyeColor = ""
    return details
  }

  @Test func `a file without persons has none`() async throws {
    try await SensorFile().run { persons, journal in
      let found = try await persons.persons()
      #expect(found == [])
      #expect(try await persons.items() == [])
      #expect(try await persons.recentDevices(for: .finger) == [])
      #expect(try await journal.unfinished() == .init())
    }
  }

  @Test func `persons are read as they were added and edited`() async throws {
    let file = try SensorFile()
    try await file.run { persons, _ in
      let first = try await persons.add(Self.kowalski)
      file.clock.advance(by: .seconds(5))
      let second = try await persons.add()
      #expect(try await persons.persons() == [first, second])
      var details = Self.kowalski
      details.notes = "left-handed"
      try await persons.edit(second.key, to: details)
      let edited = try await persons.person("2")
      #expect(edited.details == details)
      #expect((edited.createdAt, edited.modifiedAt) == (.at(5), .at(5)))
      #expect(edited.details.name == "Zofia Kowalski")
      #expect(try await persons.person(first.key.description) == first)
    }
    #expect(
      try file.file.rows("SELECT aliases_json, created_at FROM bio_person WHERE id = 1") == [
        #"["Zo","Fia"]|2020-09-13T12:26:40.000Z"#
      ])
    #expect(try file.file.findings() == [])
  }

  @Test func `what is not on a list is refused without being said`() async throws {
    try await SensorFile().run { persons, _ in
      var details = PersonDetails()
      details.hairColor = "Kowalski"
      let error = await failure { try await persons.add(details) }
      #expect(error?.code == .invalidArgument)
      #expect(
        error?.message
          == "'hair_color' is none of its choices (Black, Brown, Blonde, Red, or empty)")
      let missing = await failure { _ = try await persons.person("Kowalski") }
      #expect(missing?.code == .notFound)
      #expect(missing?.message.contains("Kowalski") == false)
    }
  }

  @Test func `items are numbered from zero in their order`() async throws {
    let file = try SensorFile()
    try await file.run { persons, _ in
      let person = try await persons.add()
      let other = try await persons.add()
      try await persons.add(.finger(.rightSlap), to: other.key)
      let slap = try await persons.add(.finger(.leftSlap), to: person.key)
      let thumbs = try await persons.add(.finger(.thumbsSlap), to: person.key)
      let face = try await persons.add(
        ItemDraft(modality: .face, captureType: .face2d), to: person.key, at: 0)
      func order() async throws -> [String] {
        try await persons.items(of: person.key).map { "\($0.index) \($0.title)" }
      }
      #expect(try await order() == ["0 Face", "1 Left Slap", "2 Thumbs Slap"])
      try await persons.move(face.key, to: 99)
      #expect(try await order() == ["0 Left Slap", "1 Thumbs Slap", "2 Face"])
      try await persons.move(thumbs.key, to: 0)
      #expect(try await order() == ["0 Thumbs Slap", "1 Left Slap", "2 Face"])
      let deleted = try await persons.delete(items: [slap.key])
      #expect("\(deleted)" == "1 feature deleted: bio_item 1")
      #expect(try await order() == ["0 Thumbs Slap", "1 Face"])
      #expect(try await persons.items(of: other.key).map(\.title) == ["Right Slap"])
    }
    #expect(
      try file.file.rows("SELECT base_id, related_id FROM bio_person_item ORDER BY 2") == [
        "2|1", "1|3", "1|4",
      ])
    #expect(try file.file.findings() == [])
  }

  @Test func `an item is set, annotated, placed and cleared`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(by: .north), to: person.key)
      #expect(
        item.device?.parametersJSON == #"{"modality":"Finger","submodality":"LeftSlap"}"#)
      _ = try await journal.post(SensorDownload("a", of: item))
      try await persons.annotate(item.key, [false, true], notes: "scar")
      try await persons.setPosition(Position(x: 13.4, y: 52.5), of: item.key)
      var draft = ItemDraft.finger(.rightSlap, by: .north)
      draft.device?.parametersJSON = #"{"stream":"live","submodality":"LeftSlap","dpi":500}"#
      try await persons.set(item.key, to: draft)
      var changed = try await persons.item("1")
      #expect(changed.annotations == [false, true, false, false])
      #expect((changed.notes, changed.position) == ("scar", Position(x: 13.4, y: 52.5)))
      #expect((changed.title, changed.contentType) == ("Right Slap", "image/bmp"))
      #expect(
        changed.device?.configuration.map { "\($0.name)=\($0.value.text)" } == [
          #"modality="Finger""#, #"submodality="RightSlap""#, "dpi=500",
        ])
      let deleted = try await persons.clear([item.key])
      #expect("\(deleted)" == "2 features deleted: media 2")
      changed = try await persons.item("1")
      #expect(!changed.hasData)
      #expect(changed.captureId == nil)
      #expect(changed.notes == "scar")
      try await persons.set(item.key, to: .finger(.rightSlap))
      #expect(try await persons.item("1").device == nil)
    }
    #expect(try file.file.rows("SELECT count(*) FROM bio_device") == ["0"])
    #expect(try file.file.findings() == [])
  }

  @Test func `a duplicate has the sensors and nothing of the person`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add(Self.kowalski)
      let item = try await persons.add(.finger(by: .north), to: person.key)
      try await persons.add(ItemDraft(modality: .iris, captureType: .leftIris), to: person.key)
      _ = try await journal.post(SensorDownload("a", of: item))
      try await persons.annotate(item.key, [true], notes: "scar")
      file.clock.advance(by: .seconds(60))
      let copy = try await persons.duplicate(person.key)
      #expect(copy.details == PersonDetails())
      #expect(copy.createdAt == .at(60))
      let items = try await persons.items(of: copy.key)
      #expect(items.map(\.title) == ["Left Slap", "Left Iris"])
      #expect(items.map(\.createdAt) == [.at(60), .at(60)])
      #expect(items[0].device?.address == .north)
      #expect(items[0].device?.parametersJSON == item.device?.parametersJSON)
      #expect(items.allSatisfy { !$0.hasData && $0.notes == nil && $0.metadataJSON == nil })
      #expect(items[0].annotations == Item.noAnnotations)
      #expect(try await persons.files(of: items[0].key) == [])
      // The copy has its own sensor, so that one does not change the other's.
      try await persons.delete([copy.key])
      #expect(try await persons.item("1").device?.address == .north)
      let error = await failure { try await persons.duplicate(copy.key) }
      #expect(error?.code == .notFound)
    }
    #expect(try file.file.findings() == [])
  }

  @Test func `a person goes with items, sensors and files`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add(Self.kowalski)
      let other = try await persons.add()
      for (index, owner) in [person, other].enumerated() {
        let item = try await persons.add(.finger(by: .north), to: owner.key)
        _ = try await journal.post(SensorDownload("capture \(index)", of: item))
      }
      let deleted = try await persons.delete([person.key])
      #expect(
        "\(deleted)"
          == "5 features deleted: bio_person 1, bio_item 1, bio_device 1, media 2")
      let error = await failure { try await persons.delete([other.key, person.key]) }
      #expect(error?.code == .notFound)
      #expect(try await persons.persons().map(\.key) == [other.key])
    }
    let counts = ["bio_item", "bio_device", "bio_item_media", "bio_person_item", "media"].map {
      "SELECT count(*) FROM \($0)"
    }
    #expect(
      try file.file.rows(counts.joined(separator: " UNION ALL ")) == ["1", "1", "2", "1", "2"])
    #expect(try file.file.findings() == [])
  }

  @Test func `recent sensors are five of the modality, the last edited first`() async throws {
    let file = try SensorFile()
    try await file.run { persons, _ in
      let person = try await persons.add()
      for number in [1, 2, 3, 4, 5, 6, 2] {
        file.clock.advance(by: .seconds(1))
        try await persons.add(
          .finger(by: SensorAddress(uri: "http://192.0.2.\(number)", name: "s")), to: person.key)
      }
      // The same address by another name is another sensor.
      file.clock.advance(by: .seconds(1))
      try await persons.add(
        .finger(by: SensorAddress(uri: "http://192.0.2.2", name: "t")), to: person.key)
      try await persons.add(
        ItemDraft(
          modality: .face, captureType: .face2d, device: SensorDevice(.north)), to: person.key)
      let recent = try await persons.recentDevices(for: .finger)
      #expect(
        recent.map { $0.address.uri.suffix(1) + $0.address.name } == ["2t", "2s", "6s", "5s", "4s"])
      #expect(try await persons.recentDevices(for: .face).map(\.address) == [.north])
      #expect(try await persons.recentDevices(for: .iris) == [])
    }
  }

  @Test(arguments: [
    ("192.0.2.1:80/x", "http://192.0.2.1:80/x"), (" cam://0 \n", "cam://0"),
    ("https://a", "https://a"), ("", nil), ("  ", nil),
  ])
  func `an address gets the scheme that it lacks`(typed: String, uri: String?) {
    #expect(SensorAddress(typed: typed)?.uri == uri)
  }
}
