import Fieldpack
import FieldpackCore
import FieldpackMQTT
import FieldpackServer
import FieldpackServices

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What `fieldpack serve` watches in positions, and the webhooks that it posts events to.
struct LiveArguments: OptionGroup {
  let positions: PositionOptions
  let isInsecure: Bool
  /// The options that were given for what is watched.
  let watching: [String]
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
      "radius", .number("metres", atLeast: 0),
      help: "The radius of regions that are points without one.")
    positions.dwell = reader.value(
      "dwell", .number("seconds", atLeast: 0),
      help: "Also detect stays of so many seconds in a region.")
    let distance = reader.value(
      "distance", .number("metres", atLeast: 0), shownDefault: "500.0",
      help: "Without --regions, detect each fix so many metres or more from the last detection.")
    positions.distance = distance ?? positions.distance
    hasBoth = distance != nil && positions.regions != nil
    self.positions = positions
    watching = [
      ("--regions", positions.regions != nil), ("--radius", positions.radius != nil),
      ("--dwell", positions.dwell != nil), ("--distance", distance != nil),
    ].filter(\.1).map(\.0)
    webhooks = reader.values(
      "webhook", .text("url"),
      help: "Post what happens in the file to this address, or publish it to the broker at "
        + "mqtts://host/topic; may be repeated.")
    webhookFile = reader.value(
      "webhooks", .file("file", "json"),
      help: "A list of webhooks in JSON, with secrets and conditions.")
    isInsecure = reader.flag(
      "insecure", help: "Send to webhooks and brokers on other machines without encryption, too.")
  }

  /// Refuses options that exclude each other.
  func check() throws(FieldpackError) {
    guard !hasBoth else {
      throw FieldpackError(
        .invalidArgument, "--distance has a meaning only without --regions")
    }
  }

  /// Makes what connects to a broker.
  var broker: @Sendable () throws(FieldpackError) -> any MessageBroker {
    let configuration = MQTTConfiguration(allowsUnencrypted: isInsecure)
    return { () throws(FieldpackError) in
      try MQTTClient.check()
      return MQTTClient(configuration)
    }
  }

  /// The webhooks of the options, and those of the file.
  func allWebhooks() throws(FieldpackError) -> [Webhook] {
    let plain = webhooks.map { Webhook($0) }
    guard let webhookFile else { return plain }
    return plain
      + (try Webhook.list(Self.text(webhookFile)) { (path) throws(FieldpackError) in
        let folder = FileSystem.split(webhookFile).folder
        return try Self.text(path.hasPrefix("/") ? path : folder + path)
      })
  }

  private static func text(_ path: String) throws(FieldpackError) -> String {
    // It may be a pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, let input = try? ByteInput(spooling: descriptor),
      let text = try? input.next(input.size)
    else {
      throw FieldpackError(.notFound, "\(path) is not there, or cannot be read")
    }
    return String(decoding: text, as: UTF8.self)
  }
}
