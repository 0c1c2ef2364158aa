import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

/// What leaves a file, and that it is said.
@Suite struct ItemExportTests {
  /// A person with a capture and one without anything.
  private func make(_ persons: PersonCatalogue, _ journal: GeoPackageJournal) async throws {
    var details = PersonDetails()
    details.lastName = "O'Hara <b>"
    details.aliases = ["Zo"]
    let person = try await persons.add(details)
    let item = try await persons.add(.finger(by: .north), to: person.key)
    _ = try await journal.post(SensorDownload("../../x", of: item))
    try await persons.annotate(item.key, [true, false, false, true], notes: "a & b")
    try await persons.setPosition(Position(x: 13.5, y: 52.25), of: item.key)
    try await persons.add()
  }

  @Test func `it says what leaves and no values`() async throws {
    try await SensorFile().run { persons, journal in
      try await make(persons, journal)
      let all = try await persons.persons()
      let export = try await ItemExport(of: all, in: persons)
      let files = try await persons.files(of: try await persons.item("1").key)
      let bytes = files.reduce(0) { $0 + $1.byteCount }
      #expect(
        export.summary(as: .folder)
          == "2 persons, 1 item and 2 files (\(bytes) bytes) leave the file, with: last_name, "
          + "aliases_json, annotations, item notes, capture metadata, positions, sensor addresses")
      #expect(
        export.summary(as: .geoJSON)
          == "2 persons, 1 item and 0 files (0 bytes) leave the file, with: last_name, "
          + "aliases_json, annotations, item notes, capture metadata, positions, sensor addresses")
      #expect(
        export.summary(as: .page)
          == "2 persons, 1 item and 1 file (\(files[1].byteCount) bytes) leave the file, with: "
          + "last_name, aliases_json, annotations, item notes")
      let none = try await ItemExport(of: Array(all.suffix(1)), in: persons)
      for form in ItemExport.Form.allCases {
        #expect(
          none.summary(as: form) == "1 person, 0 items and 0 files (0 bytes) leave the file")
      }
    }
  }

  @Test func `a folder has the files and what is known of them`() async throws {
    let file = try SensorFile()
    let folder = file.file.folder.file("session")
    try await file.run { persons, journal in
      try await make(persons, journal)
      let export = try await ItemExport(of: try await persons.persons(), in: persons)
      try await export.writeFolder(to: folder.path)
      let error = await failure { try await export.writeFolder(to: folder.path) }
      #expect(error?.code == .cannotCreate)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/media")
    #expect(names.sorted() == ["1-thumbnail.png", "1.bmp"])
    let bmp = try Data(contentsOf: folder.appendingPathComponent("media/1.bmp"))
    #expect(Array(bmp) == madeBMP(4, 2))
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions]
    #expect(mode as? Int == 0o700)
    let text = try String(
      contentsOf: folder.appendingPathComponent("session.json"), encoding: .utf8)
    let document = try JSONValueReader.read(text)
    guard case .array(let found)? = document["persons"],
      case .array(let items)? = found[0]["items"],
      case .array(let files)? = items.first?["files"]
    else {
      Issue.record("\(text)")
      return
    }
    #expect(found[0]["last_name"] == "O'Hara <b>")
    #expect(found[0]["aliases"] == ["Zo"])
    #expect(items[0]["annotations"] == [true, false, false, true])
    #expect(items[0]["metadata"] == ["width": "4"])
    #expect(items[0]["sensor"] == ["uri": "http://192.0.2.1:8000", "name": "north"])
    #expect(files[0]["file"] == "media/1.bmp")
    #expect(files[0]["sha256"] == .text(SHA256.hex(madeBMP(4, 2))))
    #expect(found[1]["items"] == [])
  }

  @Test func `GeoJSON has a feature for each item`() async throws {
    try await SensorFile().run { persons, journal in
      try await make(persons, journal)
      try await persons.add(
        ItemDraft(modality: .face, captureType: .face3d), to: try await persons.person("2").key)
      let export = try await ItemExport(of: try await persons.persons(), in: persons)
      #expect(
        export.geoJSON == """
          {"type":"FeatureCollection","features":[{"type":"Feature","id":"1","geometry":{"type":\
          "Point","coordinates":[13.5,52.25]},"properties":{"item":"1","index":0,"modality":\
          "Finger","submodality":"LeftSlap","sensor":{"uri":"http://192.0.2.1:8000","name":"north"},\
          "content_type":"image/bmp","capture_id":"../../x","metadata":{"width":"4"},"annotations":\
          [true,false,false,true],"notes":"a & b","created_at":"2020-09-13T12:26:40.000Z","person":\
          {"id":"1","last_name":"O'Hara <b>","aliases":["Zo"],"created_at":\
          "2020-09-13T12:26:40.000Z"}}},{"type":"Feature","id":"2","geometry":null,"properties":\
          {"item":"2","index":0,"modality":"Face","submodality":"Face3d","created_at":\
          "2020-09-13T12:26:40.000Z","person":{"id":"2","created_at":"2020-09-13T12:26:40.000Z"}}}]}

          """)
    }
  }

  @Test func `a page is whole and safe`() async throws {
    try await SensorFile().run { persons, journal in
      try await make(persons, journal)
      let page = try await ItemExport(of: try await persons.persons(), in: persons).page()
      #expect(
        page.contains("<h2>O&#39;Hara &lt;b&gt;</h2>") || page.contains("<h2>O'Hara &lt;b&gt;</h2>")
      )
      #expect(page.contains("<h2>Person 2</h2>"))
      #expect(page.contains("<dt>aliases</dt><dd>Zo</dd>"))
      #expect(page.contains("<figcaption>Left Slap<br>Index, Little<br>a &amp; b</figcaption>"))
      #expect(page.contains("src=\"data:image/png;base64,iVBOR"))
      // Nothing is loaded, and nothing runs.
      #expect(page.contains("default-src 'none'; img-src data:"))
      #expect(!page.contains("<script") && !page.contains("http://192"))
    }
  }
}
