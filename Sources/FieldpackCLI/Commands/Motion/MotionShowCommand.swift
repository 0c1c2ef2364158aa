import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static var motionShowCommand: Command {
    Command(
      "show", abstract: "Show the sessions of a GeoPackage, or the channels of one.",
      discussion: """
        Without a session the sessions are listed; with one the least, mean and greatest value of \
        each channel. --rows shows the samples themselves, --resample their means in steps of time, \
        --per-second what each channel does in each second; --svg draws the channels over time; all \
        of the only session where none is named. --nearest shows the samples nearest to a moment, \
        or to the time of a fix named by layer and id, of all sessions.
        """,
      examples: [
        "fieldpack motion show field.gpkg",
        "fieldpack motion show field.gpkg --last 10 --channel az --svg shake.svg",
        "fieldpack motion show field.gpkg --per-second --channel az --format csv",
        "fieldpack motion show field.gpkg --nearest track_point:17 --within 0.1",
      ],
      body: MotionShowCommand.self)
  }
}

/// `fieldpack motion show`.
struct MotionShowCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let session: String?
    let last: Double?
    let channels: [MotionChannel]
    let svg: String?
    let overwrites: Bool
    let rows: MotionRowArguments

    init(_ reader: inout OptionReader) {
      _file = reader.motionFile()
      session = reader.optionalArgument(.text("session"), help: "The id of a session.")
      last = reader.value(
        "last", .number("s", atLeast: 0), help: "Only so many seconds before the last sample.")
      channels = reader.values(
        "channel", .choice("name"), help: "Only this channel; may be repeated.")
      svg = reader.value(
        "svg", .file("file", "svg"), help: "Draw the channels over time into this file.")
      overwrites = reader.flag("overwrite", help: "Replace a file that exists.")
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
    let sessions = try await store.motionSessions()
    guard options.session != nil || options.svg != nil else {
      try show(sessions)
      return ExitStatus.success
    }
    let session = try chosen(sessions, of: store)
    let samples = try await store.motionSamples(
      ofSession: session.session.id, last: options.last)
    let named = options.channels
    let channels = MotionChannel.allCases.filter { channel in
      (named.isEmpty || named.contains(channel))
        && samples.contains { $0.reading[channel] != nil }
    }
    if let path = options.svg { try draw(session, samples, channels, into: path) }
    try show(session, channels.map { ChannelSummary($0, samples) })
    return ExitStatus.success
  }

  /// The session that is named, or the only one.
  func chosen(
    _ sessions: [StoredMotionSession], of store: GeoPackageStore
  ) throws(FieldpackError) -> StoredMotionSession {
    let names = sessions.map(\.session.id)
    let list = names.isEmpty ? "it has none" : "it has: \(names.joined(separator: ", "))"
    guard let name = options.session else {
      if sessions.count == 1 { return sessions[0] }
      throw FieldpackError(
        sessions.isEmpty ? .notFound : .invalidArgument,
        "one session is shown so (\(list)). Try: name it")
    }
    guard let session = sessions.first(where: { $0.session.id == name }) else {
      throw FieldpackError(
        .notFound, "there is no session '\(name)' in \(options.file) (\(list))",
        location: .init(store: store.id, layer: MotionLayers.session))
    }
    return session
  }

  private func draw(
    _ session: StoredMotionSession, _ samples: [MotionSample], _ channels: [MotionChannel],
    into path: String
  ) throws(FieldpackError) {
    let device = session.session.device.name
    let moments = [samples.first, samples.last].compactMap { $0?.instant }
    let plot = MotionPlot(
      title: device.isEmpty ? session.session.id : device,
      subtitle: "session \(session.session.id), \(samples.count.counting("sample")) at "
        + "\(session.session.rateText)"
        + (moments.first.map { ", from \($0.description)" } ?? ""),
      samples: samples, channels: channels, gapSeconds: max(1, 3 / session.session.rate))
    let output = try ByteOutput(
      replacing: path, overwrite: options.overwrites)
    output.buffer.append(contentsOf: plot.bytes())
    try output.finish()
  }

  // MARK: Output

  private func show(_ sessions: [StoredMotionSession]) throws(FieldpackError) {
    if isJSON { return try invocation.print(["sessions": .array(sessions.map(\.document))]) }
    guard !sessions.isEmpty else { return invocation.console.note("there is no motion") }
    try invocation.printTable(
      [
        TableColumn("session"), TableColumn("device"), TableColumn("first"),
        TableColumn("seconds", isNumeric: true), TableColumn("rate", isNumeric: true),
        TableColumn("samples", isNumeric: true), TableColumn("state"),
      ],
      sessions.map { session in
        [
          session.session.id, session.session.device.name,
          session.first.map { Instant(unixSeconds: $0).description } ?? "",
          session.seconds.map { Decimals.text($0, digits: 2) } ?? "", session.session.rateText,
          "\(session.sampleCount)", session.session.revokedAt == nil ? "open" : "revoked",
        ]
      })
  }

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
  fileprivate var rateText: String {
    rate == rate.rounded() && abs(rate) < 1e6 ? "\(Int(rate)) Hz" : "\(rate) Hz"
  }
}

extension MotionSample {
  fileprivate var instant: Instant { Instant(unixSeconds: time) }
}

extension StoredMotionSession {
  fileprivate var seconds: Double? {
    first.flatMap { first in last.map { $0 - first } }
  }

  fileprivate var document: JSONValue {
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
