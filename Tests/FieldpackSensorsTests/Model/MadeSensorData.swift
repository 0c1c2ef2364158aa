import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackMedia
import FieldpackSensors

/// A BMP of 24 bits whose pixels `color` gives as red, green, blue.
func madeBMP(
  _ width: Int, _ height: Int, fromTop: Bool = false,
  _ color: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8) = { _, _ in (10, 20, 30) }
) -> [UInt8] {
  func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
  let row = (width * 3 + 3) / 4 * 4
  var bytes = Array("BM".utf8) + little(54 + row * height, 4) + little(0, 4) + little(54, 4)
  bytes += little(40, 4) + little(width, 4) + little(fromTop ? -height : height, 4)
  bytes += little(1, 2) + little(24, 2) + little(0, 24)
  for line in 0..<height {
    let y = fromTop ? line : height - 1 - line
    var pixels: [UInt8] = []
    for x in 0..<width {
      let (red, green, blue) = color(x, y)
      pixels += [blue, green, red]
    }
    bytes += pixels + [UInt8](repeating: 0, count: row - width * 3)
  }
  return bytes
}

/// A file with the catalogue and the journal of its persons, at the time of a test.
struct SensorFile {
  let file: FieldFile
  let clock = TestClock(at: .at(0))

  init() throws { file = try FieldFile() }

  @discardableResult
  func run<R: Sendable>(
    _ body: (PersonCatalogue, GeoPackageJournal) async throws -> R
  ) async throws -> R {
    try await file.withStore { store in
      try await body(
        PersonCatalogue(store, clock: clock.clock),
        GeoPackageJournal(store, clock: clock.clock, ffmpeg: FFmpeg(program: nil)))
    }
  }
}

extension SpooledBytes {
  /// All bytes in memory.
  func all() throws(FieldpackError) -> [UInt8] { try prefix(count) }
}

extension SensorAddress {
  static let north = SensorAddress(uri: "http://192.0.2.1:8000", name: "north")
}

extension ItemDraft {
  static func finger(
    _ type: CaptureType = .leftSlap, by address: SensorAddress? = nil
  ) -> ItemDraft {
    ItemDraft(
      modality: .finger, captureType: type, device: address.map { SensorDevice($0) })
  }
}

extension SensorDownload {
  init(
    _ id: String, of item: Item? = nil, _ bytes: [UInt8] = madeBMP(4, 2),
    by device: SensorAddress = .north
  ) {
    self.init(
      captureId: id, device: device, item: item?.key, metadata: #"{"width":"4"}"#,
      content: SpooledBytes(bytes), contentType: "image/x-other")
  }
}
