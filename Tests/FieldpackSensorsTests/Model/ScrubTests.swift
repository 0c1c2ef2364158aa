import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

/// What is deleted for good is not in the file's bytes.
@Suite struct ScrubTests {
  private static let secrets = ["Brzeczyszczykiewicz", "sinusitis", "zebra-capture"]

  /// Which of the texts the file and what lies beside it hold.
  private func found(in file: FieldFile) throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: file.folder.url.path)
    let bytes = try names.reduce(into: Data()) { bytes, name in
      bytes += try Data(contentsOf: file.folder.file(name))
    }
    return Self.secrets.filter { bytes.range(of: Data($0.utf8)) != nil }
  }

  /// A file with a log of edits, and a person whose details, notes and capture hold the secrets.
  private func make(_ file: SensorFile) async throws {
    try await file.run { persons, journal in
      try await persons.add()
      for layer in [SensorLayers.person, SensorLayers.item] {
        try await persons.store.write { (writer) throws(FieldpackError) in
          try writer.enableLog(of: layer)
        }
      }
      var details = PersonDetails()
      details.lastName = Self.secrets[0]
      let person = try await persons.add(details)
      try await persons.edit(person.key, to: details)
      let item = try await persons.add(.finger(by: .north), to: person.key)
      try await persons.annotate(item.key, notes: Self.secrets[1])
      let bytes = Array(repeating: Array(Self.secrets[2].utf8), count: 2000).flatMap { $0 }
      try await journal.captured(["a"], by: .north, for: item.key)
      _ = try await journal.post(SensorDownload("a", of: item, bytes))
    }
  }

  @Test func `a scrubbed person leaves no bytes`() async throws {
    let file = try SensorFile()
    try await make(file)
    #expect(try found(in: file.file) == Self.secrets)
    // What a synchronisation writes for a link that another copy has made.
    try file.file.run(
      "INSERT INTO fieldpack_identity VALUES ('bio_item_media', 1, 1, 'a copy:1')")
    try await file.run { persons, _ in
      let deleted = try await persons.delete([try await persons.person("2").key], scrubbing: true)
      #expect(
        "\(deleted)" == "4 features deleted: bio_person 1, bio_item 1, bio_device 1, media 1")
      // Also while the store is open.
      #expect(try found(in: file.file) == [])
      #expect(try await persons.persons().map(\.key.feature) == [.integer(1)])
    }
    #expect(try found(in: file.file) == [])
    #expect(
      try file.file.rows(
        "SELECT (SELECT count(*) FROM bio_person_audit), (SELECT count(*) FROM bio_item_audit), "
          + "(SELECT count(*) FROM bio_item_media_audit), (SELECT count(*) FROM media_audit), "
          + "(SELECT count(*) FROM bio_capture), (SELECT count(*) FROM fieldpack_identity)")
        == ["0|0|0|0|0|0"])
    #expect(try file.file.findings() == [])
  }

  @Test func `a scrubbed person leaves no conflicts`() async throws {
    let file = try SensorFile()
    try await make(file)
    try file.file.run(
      """
      CREATE TABLE conflict (
        id INTEGER PRIMARY KEY, layer TEXT, feature INTEGER, lost TEXT, kept TEXT);
      INSERT INTO gpkg_contents (table_name, data_type, identifier)
        VALUES ('conflict', 'attributes', 'conflict');
      INSERT INTO conflict (layer, feature, lost) VALUES
        ('bio_person', 2, '\(Self.secrets[0])'), ('bio_item', 1, '\(Self.secrets[1])'),
        ('bio_person', 1, 'other');
      """)
    try await file.run { persons, _ in
      try await persons.delete([try await persons.person("2").key], scrubbing: true)
    }
    #expect(
      try file.file.rows("SELECT layer, feature, lost FROM conflict") == ["bio_person|1|other"])
    #expect(try found(in: file.file) == [])
  }

  @Test func `a deleted person stays in the log`() async throws {
    let file = try SensorFile()
    try await make(file)
    try await file.run { persons, _ in
      try await persons.delete([try await persons.person("2").key])
    }
    #expect(try found(in: file.file).contains(Self.secrets[0]))
    #expect(try found(in: file.file).contains(Self.secrets[1]))
    #expect(
      try file.file.rows("SELECT max(audit_op) FROM bio_person_audit") == ["3"])
  }

  @Test func `a scrubbed capture leaves no bytes and the item stays`() async throws {
    let file = try SensorFile()
    try await make(file)
    try await file.run { persons, _ in
      try await persons.clear([try await persons.item("1").key], scrubbing: true)
      let item = try await persons.item("1")
      #expect(item.notes == Self.secrets[1])
      #expect(item.metadataJSON == nil)
    }
    #expect(try found(in: file.file) == [Self.secrets[0], Self.secrets[1]])
  }
}
