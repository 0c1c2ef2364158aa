import FieldpackCore
import FieldpackField

/// The last event that a webhook has got, in a file of its own, so that a restart goes on after it.
struct WebhookState: Sendable {
  let path: String

  /// - Parameters:
  ///   - folder: where states are kept.
  ///   - file: the path of the served file.
  init(_ webhook: Webhook, of file: String, in folder: String) {
    let real = FileSystem.resolve(file).path
    let name = SHA256.hex(Array(real.utf8)).prefix(16)
    path = "\(folder)/webhook-\(name)-\(webhook.name).json"
  }

  struct Kept: Hashable, Sendable {
    var place: EventPlace
    /// When the receiver first failed after its last success.
    var failingSince: Instant?
  }

  /// - Returns: `nil` for a webhook that has no state yet.
  func read() -> Kept? {
    guard let json = JSONFile.read(path),
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
    try JSONFile.write(json, to: path)
  }
}
