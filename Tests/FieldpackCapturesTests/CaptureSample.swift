import FieldpackCore
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation

@testable import FieldpackCaptures

/// A folder of captures of our own, and a GeoPackage to import them into.
final class CaptureSample: Sendable {
  static let video = String(repeating: "a1", count: 32)
  static let second = String(repeating: "b2", count: 16)
  static let first = "B9D4A8E0-1332953967"

  let folder: TemporaryFolder
  let captures: String
  let target: String

  init() throws {
    folder = try TemporaryFolder()
    captures = folder.file("StraboCaptures").path
    target = folder.file("field.gpkg").path
    try FileManager.default.createDirectory(atPath: captures, withIntermediateDirectories: true)
  }

  func write(_ path: String, _ bytes: [UInt8]) throws {
    let url = URL(fileURLWithPath: captures).appendingPathComponent(path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
  }

  func write(_ path: String, _ text: String) throws { try write(path, Array(text.utf8)) }

  static let media = [0, 0, 0, 20] + Array("ftypqt  ".utf8) + [UInt8](0...255)
  static let picture = TestPicture.png(width: 4, height: 3, color: (200, 100, 0))

  /// A capture of today's form with four files.
  func addVideo(_ token: String = CaptureSample.video, createdAt: Int = 1_344_352_260) throws {
    let media = "\(token)\\/\(token)"
    try write(
      "\(token)/capture-info.json",
      """
      {"created_at": \(createdAt), "heading": 99.43981838226318, "title": "T\\u00fcr \\"1\\"",
       "thumbnail_file": "\(media).png", "media_file": "\(media).mov", "media_type": "video",
       "token": "\(token)", "uploaded_at": 1344352275.333697, "orientation": "horizontal",
       "coords": [43.62538491719486, -72.51787712345703], "geodata_file": "\(media).json",
       "weather": {"sky": ["clear", null, true]}, "visits": 3}
      """)
    try write(
      "\(token)/\(token).json",
      """
      {"points": [
        {"timestamp": 0, "accuracy": 65, "coords": [43.5, -72.25], "heading": 99.5},
        {"timestamp": 0.1515992499989807, "accuracy": -1, "coords": [43.5, -72.25],
         "heading": -1, "speed": 1.5},
        {"timestamp": 2.5, "accuracy": 5, "coords": [43.75, -72.5], "heading": 0.125}],
       "device": "phone"}
      """)
    try write("\(token)/\(token).mov", Self.media)
    try write("\(token)/\(token).png", Self.picture)
  }

  /// One of the form of June 2012, with numbers in quotes.
  func addSecondForm() throws {
    try write(
      "\(Self.second)/\(Self.second).json",
      """
      {"title": "Woodstock", "public": false, "album_token": "f450", "album_cover": "red",
       "capture": {"title": "Summit", "capture_token": "\(Self.second)", "media_type": "image",
         "coords": [43.627139, -72.529151], "orientation": "vertical",
         "description": "on top", "created_at": "1338585998"}}
      """)
    try write(
      "\(Self.second)/\(Self.second)_geo_data.json",
      """
      {"points": [{"longitude": "-72.529151", "latitude": "43.627139", "accuracy": "5.000000",
        "heading": "230.11", "timestamp": "0.000049"}]}
      """)
    try write("\(Self.second)/\(Self.second).jpg", [0xFF, 0xD8, 0xFF, 0xD9])
  }

  /// One of the first form, all in one file.
  func addFirstForm() throws {
    try write(
      "\(Self.first)/\(Self.first).json",
      """
      {"track": {"captureDate": "1332953967", "compass": "mode", "taggedPeople": [""],
        "title": "caviar", "tracktype": "video", "deviceName": "phone", "uploadDate": "0",
        "orientation": "vertical", "points": [
          {"longitude": "-79.936048", "latitude": "32.783744", "accuracy": "65.000000",
           "heading": "2.67", "timestamp": "0.000072"},
          {"longitude": "-79.936048", "latitude": "32.783744", "accuracy": "65.000000",
           "heading": "3.67", "timestamp": "0.028197"}]}}
      """)
  }

  func load(_ path: String? = nil) async throws -> CaptureImport.Report {
    try await CaptureImport().run([path ?? captures], into: target, id: "field")
  }

  /// The same on a GeoPackage that is made first.
  func withNewCatalogue<R>(_ body: (CaptureCatalogue) async throws -> R) async throws -> R {
    _ = try GeoPackageBulkWriter(creating: target, store: "field").commit()
    return try await withCatalogue(body)
  }

  @discardableResult
  func withCatalogue<R>(_ body: (CaptureCatalogue) async throws -> R) async throws -> R {
    let store = try await GeoPackageStore(path: target, id: "field")
    do {
      let result = try await body(CaptureCatalogue(store))
      await store.close()
      return result
    } catch {
      await store.close()
      throw error
    }
  }

  /// The rows of each layer of captures.
  func counts() async throws -> [String: Int] {
    try await withCatalogue { catalogue in
      var counts: [String: Int] = [:]
      for layer in ["capture", "capture_track", "capture_point", "media"] {
        counts[layer] = try await catalogue.store.count(Query(LayerID(layer)))
      }
      let store = catalogue.store
      counts["links"] = try await store.read { (snapshot) throws(FieldpackError) in
        guard let relation = try snapshot.relations().first else { return 0 }
        return try snapshot.links(by: relation).count
      }
      return counts
    }
  }
}

/// The JSON of a file, for comparing what it says and not how.
func document(_ path: String) throws -> NSDictionary {
  let value = try JSONSerialization.jsonObject(
    with: Data(contentsOf: URL(fileURLWithPath: path)))
  return value as? NSDictionary ?? [:]
}

/// All files below a folder, by their paths there.
func files(below path: String) throws -> [String: Data] {
  var files: [String: Data] = [:]
  for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
    files[name] = FileManager.default.contents(atPath: "\(path)/\(name)")
  }
  return files
}

extension CaptureFile {
  var bytes: [UInt8]? { try? content.prefix(content.count) }
}
