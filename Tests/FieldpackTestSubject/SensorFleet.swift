import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackMedia
import FieldpackSensors
import Foundation

/// `fleet FILE.gpkg COUNT ADDRESS...`: links to sensors on the network, which capture at the same time.
///
/// First it does what an earlier run has left. Each sensor then captures so often, for an item of its own.
/// It shows, each in a line, `read ID` when the answer to a capture is there, `asked ID` before a download,
/// `posted ID` when a capture is told as stored, and `memory KIB` ten times. It ends as if it were killed.
struct SensorFleet {
  private let store: GeoPackageStore
  private let catalogue: PersonCatalogue
  private let links: SensorLinks

  init(_ store: GeoPackageStore) throws {
    self.store = store
    catalogue = PersonCatalogue(store)
    links = try Self.links(store)
  }

  private static func links(_ store: GeoPackageStore) throws -> SensorLinks {
    let http = try SensorClient.http()
    let journal = GeoPackageJournal(store, ffmpeg: FFmpeg(program: nil))
    return SensorLinks(journal: journal) { (address) throws(FieldpackError) in
      let sensor = try SensorClient.sensor(at: address.uri, http: http, cameras: .only([]))
      return WitnessedSensor(sensor: sensor)
    }
  }

  func run(_ count: Int, _ addresses: [String]) async throws {
    let targets = try await targets(addresses)
    let told = links.events.subscribe()
    let watch = Task {
      for await event in told.stream where event.name == .downloadPosted {
        FieldpackTestSubject.show("posted \(event.captureId ?? "")")
      }
    }
    try await links.finishEarlierWork()
    FieldpackTestSubject.show("ready")
    for round in 0..<10 {
      let range = count * round / 10..<count * (round + 1) / 10
      try await withThrowingTaskGroup(of: Void.self) { [links] group in
        for target in targets {
          group.addTask { for _ in range { try await links.capture(target) } }
        }
        try await group.waitForAll()
      }
      if count > 0 { FieldpackTestSubject.show("memory \(Self.memory("RssAnon"))") }
    }
    links.events.finish()
    await watch.value
    exit(0)
  }

  /// An item for each sensor, which is made at the first run.
  private func targets(_ addresses: [String]) async throws -> [SensorTarget] {
    var items = try await catalogue.items()
    if items.isEmpty {
      let person = try await catalogue.add()
      for address in addresses {
        let device = SensorDevice(SensorAddress(uri: address))
        items.append(
          try await catalogue.add(
            ItemDraft(modality: .finger, captureType: .rightSlap, device: device), to: person.key))
      }
    }
    return zip(addresses, items).map { address, item in
      SensorTarget(SensorAddress(uri: address), ["width": .integer(640)], item: item.key)
    }
  }

  /// `full FILE.gpkg COUNT ADDRESS`: connects, sets up and captures so often, each time by a new link, and
  /// shows how many milliseconds each took.
  func measure(_ count: Int, _ address: String) async throws {
    let target = try await targets([address])[0]
    for _ in 0..<count {
      let links = try Self.links(store)
      let start = ContinuousClock.now
      let outcome = try await links.capture(target)
      let time = (ContinuousClock.now - start) / .milliseconds(1)
      guard outcome?.isCompleted == true else {
        throw FieldpackError(.unavailable, "\(String(describing: outcome))")
      }
      await links.close()
      FieldpackTestSubject.show("took \(time)")
    }
  }

  /// `download ADDRESS`: downloads a capture, and shows how many bytes it has and by how many KiB the
  /// memory of this process was larger meanwhile.
  static func download(_ address: String) async throws {
    let client = try SensorClient(address)
    let before = memory("VmRSS")
    let id = "00000000-0000-0000-0000-000000000000"
    let answer = try await client.perform(SensorRequest(.download, capture: id))
    FieldpackTestSubject.show("\(answer.result.data?.count ?? 0) \(memory("VmHWM") - before)")
  }

  /// A line of what the system says of the memory of this process, in KiB.
  private static func memory(_ name: String) -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
  }
}

/// A sensor whose captures are shown as soon as its answer is there, before anybody else has it.
private struct WitnessedSensor: BiometricSensor {
  let sensor: any BiometricSensor

  func perform(_ request: SensorRequest) async throws(FieldpackError) -> SensorAnswer {
    if request.operation == .thriftyDownload, let id = request.captureId {
      FieldpackTestSubject.show("asked \(id)")
    }
    let answer = try await sensor.perform(request)
    for id in answer.result.captureIds { FieldpackTestSubject.show("read \(id)") }
    return answer
  }
}
