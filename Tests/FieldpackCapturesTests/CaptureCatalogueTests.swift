import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

@Suite struct CaptureCatalogueTests {
  private func loaded() async throws -> CaptureSample {
    let sample = try CaptureSample()
    try sample.addVideo()
    try sample.addSecondForm()
    try sample.addFirstForm()
    _ = try await sample.load()
    return sample
  }

  @Test func `a selection holds by kind, view, distance and number`() async throws {
    let (video, second, first) = (CaptureSample.video, CaptureSample.second, CaptureSample.first)
    try await loaded().withCatalogue { catalogue in
      let summit = Position(x: -72.529151, y: 43.627139)
      for (selection, tokens) in [
        (CaptureSelection(kind: .video), [video, first]),
        (CaptureSelection(limit: 1), [video]),
        (
          CaptureSelection(box: Envelope(minX: -80, minY: 32, maxX: -79, maxY: 33)), [first]
        ),
        (CaptureSelection(center: summit, radius: 100), [second]),
        (CaptureSelection(center: summit, radius: 2000), [video, second]),
        (CaptureSelection(center: summit, radius: 0), [second]),
      ] {
        let found = try await catalogue.list(selection)
        #expect(found.map(\.info.token) == tokens)
      }
    }
  }

  @Test func `the place at a playback time is that of the last point until then`() async throws {
    try await loaded().withCatalogue { catalogue in
      let capture = try await catalogue.capture(CaptureSample.video)
      var times: [Double?] = []
      for time in [-1, 0, 0.15, 0.2, 2.4999, 2.5, 1e9] {
        times.append(try await catalogue.point(of: capture, at: time)?.time)
      }
      #expect(times == [nil, 0, 0, 0.1515992499989807, 0.1515992499989807, 2.5, 2.5])
    }
  }

  @Test func `a title changes and nothing else`() async throws {
    try await loaded().withCatalogue { catalogue in
      var capture = try await catalogue.capture(CaptureSample.video)
      try await catalogue.setTitle("é", of: capture)
      capture.info.title = "é"
      #expect(try await catalogue.capture(CaptureSample.video) == capture)
    }
  }

  @Test func `deleting captures leaves no points, lines, media or links`() async throws {
    let sample = try await loaded()
    try await sample.withCatalogue { catalogue in
      try await catalogue.delete([try await catalogue.capture(CaptureSample.video)])
    }
    #expect(
      try await sample.counts() == [
        "capture": 2, "capture_track": 1, "capture_point": 3, "media": 1, "links": 1,
      ])
    try await sample.withCatalogue { catalogue in
      try await catalogue.delete(try await catalogue.list())
    }
    #expect(
      try await sample.counts() == [
        "capture": 0, "capture_track": 0, "capture_point": 0, "media": 0, "links": 0,
      ])
  }

  @Test func `a file that something else has stays when a capture goes`() async throws {
    let sample = try await loaded()
    try await sample.withCatalogue { catalogue in
      let gone = try await catalogue.capture(CaptureSample.video)
      let other = try await catalogue.capture(CaptureSample.second)
      try await catalogue.store.write { (writer) throws(FieldpackError) in
        // Another program links the picture of one capture to another, and gives a page all files.
        try writer.createLayer(Schema(layer: "page"))
        let page = try writer.create(Feature(), in: "page")
        let pages = try writer.createRelation(
          from: "page", to: "media", as: .media, mapping: "page_media")
        guard let captures = try writer.relations().first(where: { $0.mapping == "capture_media" })
        else { throw FieldpackError(.notFound, "capture_media") }
        let files = try writer.related(to: gone.key.feature, by: captures)
        try writer.link(other.key.feature, to: files[0], by: captures)
        try writer.link(page, to: files[1], by: pages)
      }
      let deleted = try await catalogue.delete([gone])
      #expect(
        deleted.layers.map { "\($0.layer) \($0.count)" }
          == ["capture 1", "capture_point 3", "capture_track 1"])
    }
    #expect(try await sample.counts()["media"] == 3)
  }

  @Test func `the jobs of a capture go with it`() async throws {
    let sample = try await loaded()
    try await sample.withCatalogue { catalogue in
      try await catalogue.store.write { (writer) throws(FieldpackError) in
        for token in [CaptureSample.video, CaptureSample.video, CaptureSample.second] {
          try writer.create(
            Feature(attributes: ["subject": .text(token), "target": "http://a/"]), in: "upload_job")
        }
      }
      let deleted = try await catalogue.delete([try await catalogue.capture(CaptureSample.video)])
      #expect(deleted[CaptureLayers.job] == 2)
      let left = try await catalogue.store.query(Query("upload_job").select("subject")).features
        .reduce(into: []) { $0.append($1[Column<String>("subject")]) }
      #expect(left == [CaptureSample.second])
    }
  }

  @Test func `deleting nothing from a file without captures makes no layers`() async throws {
    let package = try FieldFile()
    let deleted = try await package.withStore { store in
      try await CaptureCatalogue(store).delete([])
    }
    #expect(deleted == DeletedFeatures())
    #expect(try package.rows("SELECT table_name FROM gpkg_contents") == [])
  }

  @Test func `an exported capture says the same in the same bytes of media`() async throws {
    let sample = try await loaded()
    let token = CaptureSample.video
    let output = sample.folder.file("out").path
    let exported = try await sample.withCatalogue { catalogue in
      try await catalogue.export([try await catalogue.capture(token)], to: output)
    }
    #expect(exported.map(\.folder) == ["\(output)/\(token)"])
    #expect(exported.map(\.missing) == [[]])
    for name in ["capture-info.json", "\(token).json"] {
      #expect(
        try document("\(output)/\(token)/\(name)")
          == document("\(sample.captures)/\(token)/\(name)"))
    }
    let files = try files(below: output)
    #expect(
      files.keys.sorted() == [
        "\(token)/\(token).json", "\(token)/\(token).mov", "\(token)/\(token).png",
        "\(token)/capture-info.json",
      ])
    #expect(files["\(token)/\(token).mov"] == Data(CaptureSample.media))
    #expect(files["\(token)/\(token).png"] == Data(CaptureSample.picture))
  }

  @Test func `export, import and export again give the same bytes`() async throws {
    let sample = try await loaded()
    let output = sample.folder.file("out").path
    try await sample.withCatalogue { catalogue in
      _ = try await catalogue.export(try await catalogue.list(), to: output)
    }
    let again = try CaptureSample()
    #expect(try await again.load(output).refused.isEmpty)
    let second = again.folder.file("out").path
    try await again.withCatalogue { catalogue in
      _ = try await catalogue.export(try await catalogue.list(), to: second)
    }
    #expect(try files(below: second) == files(below: output))
  }

  @Test func `a folder that is there is not written over`() async throws {
    let sample = try await loaded()
    try await sample.withCatalogue { catalogue in
      let capture = try await catalogue.capture(CaptureSample.video)
      let before = try files(below: sample.captures)
      await #expect(throws: FieldpackError.self) {
        try await catalogue.export([capture], to: sample.captures)
      }
      #expect(try files(below: sample.captures) == before)
    }
  }
}
