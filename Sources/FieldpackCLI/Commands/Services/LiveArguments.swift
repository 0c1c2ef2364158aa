import Fieldpack
import FieldpackCore
import FieldpackServer
import FoundationEssentials

/// What `fieldpack serve` watches, and whom it tells.
struct LiveArguments: OptionGroup {
  let positions: PositionOptions
  let isInsecure: Bool
  /// Whether regions and a distance are asked for.
  private let hasBoth: Bool
  private let webhooks: [String]
  private let webhookFile: String?

  init(_ reader: inout OptionReader) {
    var positions = PositionOptions()
    positions.regions = reader.value(
      "regions", .text("layer"),
      help: "Watch the features of this layer in the positions that devices send."
    ).map { LayerID($0) }
    positions.radius = reader.value(
      "radius", .number("metres", atLeast: 0), help: "The radius of points without one.")
    positions.dwell = reader.value(
      "dwell", .number("seconds", atLeast: 0),
      help: "Also tell of stays of so many seconds in a region.")
    let distance = reader.value(
      "distance", .number("metres", atLeast: 0), shownDefault: "500.0",
      help: "Without --regions, detect each fix so many metres or more from the last detection.")
    positions.distance = distance ?? positions.distance
    hasBoth = distance != nil && positions.regions != nil
    self.positions = positions
    webhooks = reader.values(
      "webhook", .text("url"), help: "Tell this address of what happens, by POST.")
    webhookFile = reader.value(
      "webhooks", .file("file", "json"),
      help: "A list of webhooks with secrets and conditions, in JSON.")
    isInsecure = reader.flag(
      "insecure", help: "Tell webhooks on other machines without encryption, too.")
  }

  /// The webhooks of the options, and those of the file.
  func list() throws(FieldpackError) -> [Webhook] {
    guard !hasBoth else {
      throw FieldpackError(
        .invalidArgument, "--distance has a meaning only without --regions")
    }
    let plain = webhooks.map { Webhook($0) }
    guard let webhookFile else { return plain }
    return plain
      + (try Webhook.list(Self.text(webhookFile)) { (path) throws(FieldpackError) in
        let folder = FileSystem.split(webhookFile).folder
        return try Self.text(path.hasPrefix("/") ? path : folder + path)
      })
  }

  private static func text(_ path: String) throws(FieldpackError) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw FieldpackError(.notFound, "\(path) is not there, or cannot be read")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
