import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static var motionShowCommand: Command {
    Command(
      "show", abstract: "Show the channels or the samples of a session.",
      discussion: """
        Shows the least, mean and greatest value of each channel. --rows shows the samples \
        themselves, --resample their means in steps of time, --per-second what each channel does in \
        each second. Without a session the only one is shown. --nearest shows the samples of all \
        sessions nearest to a time, or to the time of a fix named by layer and id.
        """,
      examples: [
        "fieldpack motion show field.gpkg",
        "fieldpack motion show field.gpkg --per-second --channel az --format csv",
        "fieldpack motion show field.gpkg --nearest track_point:17 --max-gap 0.1",
      ],
      body: MotionShowCommand.self)
  }
}

extension OptionReader {
  mutating func session() -> String? {
    optionalArgument(
      .text("session"), help: "The id of a session; the only one where none is named.")
  }

  mutating func lastSeconds() -> Double? {
    value("last", .number("s", atLeast: 0), help: "Only so many seconds before the last sample.")
  }

  mutating func channels() -> [MotionChannel] {
    values("channel", .choice("name"), help: "Only this channel; may be repeated.")
  }
}

extension GeoPackageStore {
  /// The session that is named, or the only one.
  func motionSession(named name: String?) async throws(FieldpackError) -> StoredMotionSession {
    let sessions = try await motionSessions()
    let names = sessions.map(\.session.id)
    let list = names.isEmpty ? "it has none" : "it has: \(names.joined(separator: ", "))"
    guard let name else {
      if sessions.count == 1 { return sessions[0] }
      guard !sessions.isEmpty else {
        throw FieldpackError(
          .notFound, "\(shownPath) has no motion. Try: fieldpack motion import LOG --into FILE",
          location: .init(store: id, layer: MotionLayers.session))
      }
      throw FieldpackError(
        .invalidArgument, "\(shownPath) has several sessions (\(list)). Try: name one of them")
    }
    guard let session = sessions.first(where: { $0.session.id == name }) else {
      throw FieldpackError(
        .notFound, "there is no session '\(name)' in \(shownPath) (\(list))",
        location: .init(store: id, layer: MotionLayers.session))
    }
    return session
  }
}

extension [MotionSample] {
  /// The channels that have a value, of those that are named, or of all.
  func channels(among named: [MotionChannel]) -> [MotionChannel] {
    MotionChannel.allCases.filter { channel in
      (named.isEmpty || named.contains(channel)) && contains { $0.reading[channel] != nil }
    }
  }
}

/// `fieldpack motion show`.
struct MotionShowCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let session: String?
    let last: Double?
    let channels: [MotionChannel]
    let rows: MotionRowArguments

    init(_ reader: inout OptionReader) {
      _file = reader.motionFile()
      session = reader.session()
      last = reader.lastSeconds()
      channels = reader.channels()
      rows = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options
  private var isJSON: Bool { invocation.isJSON }

  func run() async throws(FieldpackError) -> Int32 {
    let areRows = try options.rows.areAsked(of: options)
    return try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      guard areRows else { return try await show(store) }
      return try await MotionRows(invocation: invocation, store: store, options: options).show()
    }
  }

  private func show(_ store: GeoPackageStore) async throws(FieldpackError) -> Int32 {
    let session = try await store.motionSession(named: options.session)
    let samples = try await store.motionSamples(
      ofSession: session.session.id, last: options.last)
    let channels = samples.channels(among: options.channels)
    try show(session, channels.map { ChannelSummary($0, samples) })
    return ExitStatus.success
  }

  // MARK: Output

  private func show(
    _ session: StoredMotionSession, _ channels: [ChannelSummary]
  ) throws(FieldpackError) {
    if isJSON {
      return try invocation.print([
        "session": session.document, "channels": .array(channels.map(\.document)),
      ])
    }
    try invocation.printTable(
      [
        TableColumn("channel"), TableColumn("unit"), TableColumn("samples", isNumeric: true),
        TableColumn("least", isNumeric: true), TableColumn("mean", isNumeric: true),
        TableColumn("greatest", isNumeric: true),
      ],
      channels.map { channel in
        [channel.channel.rawValue, channel.channel.unit, "\(channel.count)"]
          + [channel.least, channel.mean, channel.greatest].map { Decimals.text($0, digits: 4) }
      })
  }

}

/// What a channel does in some samples.
private struct ChannelSummary {
  let channel: MotionChannel
  private(set) var count = 0
  private(set) var least = Double.infinity
  private(set) var greatest = -Double.infinity
  private var sum = 0.0

  init(_ channel: MotionChannel, _ samples: [MotionSample]) {
    self.channel = channel
    for sample in samples {
      guard let value = sample.reading[channel] else { continue }
      count += 1
      sum += value
      (least, greatest) = (min(least, value), max(greatest, value))
    }
  }

  var mean: Double { sum / Double(count) }

  var document: JSONValue {
    [
      "channel": .text(channel.rawValue), "unit": .text(channel.unit),
      "sample_count": JSONValue(count),
      "least": .real(least), "mean": .real(mean), "greatest": .real(greatest),
    ]
  }
}

extension MotionSession {
  var rateText: String {
    rate == rate.rounded() && abs(rate) < 1e6 ? "\(Int(rate)) Hz" : "\(rate) Hz"
  }
}

extension MotionSample {
  var instant: Instant { Instant(nearestTo: time) }
}

extension StoredMotionSession {
  var seconds: Double? {
    first.flatMap { first in last.map { $0 - first } }
  }

  var document: JSONValue {
    [
      "session": .text(session.id),
      "device": [
        "name": .text(session.device.name), "model": .text(session.device.model),
        "system_name": .text(session.device.systemName),
        "system_version": .text(session.device.systemVersion),
        "identifier_for_vendor": JSONValue(session.device.identifierForVendor),
      ], "started_unix": .real(session.startedAt), "revoked_unix": JSONValue(session.revokedAt),
      "rate_hz": .real(session.rate), "batch_count": JSONValue(batchCount),
      "sample_count": JSONValue(sampleCount), "first_unix": JSONValue(first),
      "last_unix": JSONValue(last),
    ]
  }
}
