import FieldpackCore
import FieldpackField
import FoundationEssentials

/// How far a webhook has been told, in a file of its own, so that a restart goes on there.
struct WebhookState: Sendable {
  let path: String

  /// - Parameters:
  ///   - folder: where states are kept.
  ///   - file: the path of the served file.
  init(_ webhook: Webhook, of file: String, in folder: String) {
    let real = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
    let name = SHA256.hex(Array(real.utf8)).prefix(16)
    path = "\(folder)/webhook-\(name)-\(webhook.name).json"
  }

  struct Kept: Hashable, Sendable {
    var place: EventPlace
    /// When the first of the failures was that nothing went well since.
    var failingSince: Instant?
  }

  /// - Returns: `nil` for a webhook that was never told.
  func read() -> Kept? {
    guard let data = FileManager.default.contents(atPath: path),
      let json = try? JSONValueReader.read(String(decoding: data, as: UTF8.self)),
      let place = json["place"]?.string.flatMap({ EventPlace($0) })
    else { return nil }
    return Kept(place: place, failingSince: json["failingSince"]?.string.flatMap { Instant($0) })
  }

  func write(_ kept: Kept) throws(FieldpackError) {
    try StateFolder.make(FileSystem.split(path).folder)
    let json: JSONValue = .members([
      "place": .text(kept.place.text),
      "failingSince": kept.failingSince.map { .text($0.description) },
    ])
    do {
      // Renamed into its place, so that a kill leaves the old one or the new one.
      try Data(json.text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw FieldpackError(.io, "the state of a webhook cannot be written to \(path)")
    }
  }
}
