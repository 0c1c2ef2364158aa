import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackMedia
import FieldpackSensors

/// `captures FILE.gpkg`: a link that stores captures until it is killed, and tells the id of each once it
/// is stored.
///
/// First it downloads what an earlier run has left, as a link does when it starts.
struct CapturingDevice {
  private static let sensor = SensorAddress(uri: "http://192.0.2.1", name: "killed")

  private let catalogue: PersonCatalogue
  private let journal: GeoPackageJournal

  init(_ store: GeoPackageStore) {
    catalogue = PersonCatalogue(store)
    journal = GeoPackageJournal(store, ffmpeg: FFmpeg(program: nil))
  }

  func run() async throws {
    let items = try await catalogue.items()
    for capture in try await journal.unfinished().captures {
      try await store(capture.id, of: capture.item)
    }
    FieldpackTestSubject.show("ready")
    for number in 0... {
      let item = items[number % items.count].key
      let ids = (0..<2).map { "\(RandomID.make())-\($0)" }
      try await journal.captured(ids, by: Self.sensor, for: item)
      for id in ids { try await store(id, of: nil) }
    }
  }

  private func store(_ id: String, of item: KeyTuple?) async throws {
    let bytes = Array(repeating: Array(id.utf8), count: 500).flatMap { $0 }
    let posted = try await journal.post(
      SensorDownload(
        captureId: id, device: Self.sensor, item: item, content: SpooledBytes(bytes)))
    if posted != nil { FieldpackTestSubject.show(id) }
  }
}
