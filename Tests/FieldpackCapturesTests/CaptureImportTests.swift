import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

@Suite(.programs) struct CaptureImportTests {
  @Test func `captures of all three forms become points, lines and media`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    try sample.addSecondForm()
    try sample.addFirstForm()
    let report = try await sample.load()
    let (video, second, first) = (CaptureSample.video, CaptureSample.second, CaptureSample.first)
    #expect(report.imported.map(\.name) == [first, video, second])
    #expect(
      report.imported.map(\.missing) == [
        ["\(first)/\(first).mov", "\(first)/\(first).png"], [], ["\(second)/\(second).png"],
      ])
    #expect(report.refused.isEmpty)
    #expect(
      try await sample.counts() == [
        "capture": 3, "capture_track": 2, "capture_point": 6, "media": 3, "links": 3,
      ])
    try await sample.withCatalogue { catalogue in
      let captures = try await catalogue.list()
      #expect(captures.map(\.info.token) == [video, second, first])
      #expect(captures.map(\.info) == [Self.videoInfo, Self.secondInfo, Self.firstInfo])
      #expect(
        try await catalogue.geodata(of: captures[1]).points == [
          CapturePoint(
            time: 0.000049, longitude: -72.529151, latitude: 43.627139, heading: 230.11,
            accuracy: 5)
        ])
    }
  }

  @Test func `a picture that is declared a video is an image`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    let token = CaptureSample.video
    try sample.write("\(token)/\(token).mov", CaptureSample.picture)
    let report = try await sample.load()
    #expect(
      report.imported.map(\.notes) == [
        ["is declared a video and holds a picture, image/png: taken as an image"]
      ])
    try await sample.withCatalogue { catalogue in
      let captures = try await catalogue.list()
      #expect(captures.map(\.info.kind) == [.image])
    }
  }

  private static var videoInfo: CaptureInfo {
    var info = CaptureInfo(
      token: CaptureSample.video, title: "Tür \"1\"", kind: .video,
      longitude: -72.51787712345703, latitude: 43.62538491719486, heading: 99.43981838226318,
      createdAt: 1_344_352_260)
    info.title = "Tür \"1\""
    info.uploadedAtStated = 1_344_352_275.333697
    info.orientation = .horizontal
    info.extraJSON = #"{"weather":{"sky":["clear",null,true]},"visits":3}"#
    return info
  }

  private static var secondInfo: CaptureInfo {
    var info = CaptureInfo(
      token: CaptureSample.second, kind: .image, longitude: -72.529151, latitude: 43.627139,
      heading: 230.11, createdAt: 1_338_585_998)
    info.title = "Summit"
    info.orientation = .vertical
    info.extraJSON =
      #"{"description":"on top","album_title":"Woodstock","public":false,"#
      + #""album_token":"f450","album_cover":"red"}"#
    return info
  }

  private static var firstInfo: CaptureInfo {
    var info = CaptureInfo(
      token: CaptureSample.first, kind: .video, longitude: -79.936048, latitude: 32.783744,
      heading: 2.67, createdAt: 1_332_953_967)
    info.title = "caviar"
    info.orientation = .vertical
    info.extraJSON = #"{"compass":"mode","taggedPeople":[""],"deviceName":"phone"}"#
    return info
  }

  @Test func `lines have the seconds as m, and points what the device knew`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    _ = try await sample.load()
    try await sample.withCatalogue { catalogue in
      let line = try await catalogue.store.feature(.integer(1), in: "capture_track")
      let ordinates = [
        -72.25, 43.5, 0, -72.25, 43.5, 0.1515992499989807, -72.5, 43.75, 2.5,
      ]
      #expect(
        line?.geometry
          == .lineString(CoordinateSequence(dimensions: .xym, ordinates: ordinates)))
      #expect(
        line?.attributes == ["capture_fid": 1, "point_count": 3, "duration_s": 2.5])
      let point = try await catalogue.store.feature(.integer(2), in: "capture_point")
      #expect(
        point?.attributes == [
          "capture_fid": 1, "seq": 1, "t_s": 0.1515992499989807, "heading_deg": -1.0,
          "accuracy_m": -1.0, "extra_json": #"{"speed":1.5}"#,
        ])
    }
  }

  @Test func `a second import changes nothing, and adds files that were missing`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    try sample.addSecondForm()
    _ = try await sample.load()
    let before = try await sample.counts()
    let again = try await sample.load()
    #expect(again.imported.isEmpty && again.filesAdded == 0)
    #expect(again.known.map(\.token) == [CaptureSample.video, CaptureSample.second])
    #expect(try await sample.counts() == before)
    try sample.write(
      "\(CaptureSample.second)/\(CaptureSample.second).png", CaptureSample.picture)
    let later = try await sample.load()
    #expect(later.filesAdded == 1)
    #expect(try await sample.counts()["media"] == 4)
  }

  @Test func `token and key tuple find a capture`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    let report = try await sample.load()
    try await sample.withCatalogue { catalogue in
      let byToken = try await catalogue.capture(CaptureSample.video)
      #expect(byToken.key == report.imported[0].key)
      #expect(try await catalogue.capture(byToken.key.description) == byToken)
      for name in [
        "", "x", "1", KeyTuple(store: "other", layer: "capture", feature: .integer(1)).description,
      ] {
        await #expect(throws: FieldpackError.self) { try await catalogue.capture(name) }
      }
    }
  }

  @Test func `a GeoPackage is not made where no capture is sound`() async throws {
    let sample = try CaptureSample()
    try sample.write("x/capture-info.json", "{")
    let report = try await sample.load()
    #expect(report.refused.map(\.name) == ["x"])
    #expect(!FileManager.default.fileExists(atPath: sample.target))
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `the capture of the guide is imported and lacks its two media`() async throws {
    let sample = try CaptureSample()
    let report = try await sample.load(
      SharedData.url("field-systems/strabo/StraboCaptures").path)
    #expect(report.imported.count == 1 && report.imported[0].missing.count == 2)
    #expect(
      try await sample.counts() == [
        "capture": 1, "capture_track": 1, "capture_point": 4, "media": 0, "links": 0,
      ])
  }

  @Test(.enabled(if: !Programs.validators.isEmpty, Comment(rawValue: Programs.noValidator)))
  func `the validator finds no fault in a file with captures`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    try sample.addSecondForm()
    _ = try await sample.load()
    for validator in Programs.validators where validator.knowsVersion14 {
      let result = try await Program.run(
        validator.python, ["-m", "osgeo_utils.samples.validate_gpkg", "-k", sample.target])
      #expect(result.output + result.error == "")
      #expect(result.status == 0)
    }
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `GDAL sees the lines' m and the relation to the media`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    _ = try await sample.load()
    let script = """
      from osgeo import ogr, gdal
      d = gdal.OpenEx('\(sample.target)')
      f = d.GetLayer('capture_track').GetNextFeature()
      print(f.GetGeometryRef().ExportToIsoWkt())
      for n in d.GetRelationshipNames() or []:
        r = d.GetRelationship(n)
        print(r.GetLeftTableName(), r.GetRightTableName(), r.GetMappingTableName())
      """
    let lines = try Programs.output(Programs.gdalPython ?? "", ["-c", script])
      .split(separator: "\n").map(String.init)
    #expect(lines.first?.hasPrefix("LINESTRING M (-72.25 43.5 0,") == true)
    #expect(lines.dropFirst() == ["capture media capture_media"])
  }
}
