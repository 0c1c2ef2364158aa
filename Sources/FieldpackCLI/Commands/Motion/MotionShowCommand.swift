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
      arguments: [MotionArguments.file, MotionShowCommand.session],
      options: [
        OptionGroup(
          nil,
          [
            MotionShowCommand.last, MotionShowCommand.channels, MotionShowCommand.svg,
            ExportArguments.overwrite,
          ]), MotionRows.group, CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await invocation.withGeoPackage(invocation.arguments[MotionArguments.file]) {
        (store) throws(FieldpackError) in
        if let rows = try MotionRows(invocation, store) { return try await rows.show() }
        return try await MotionShowCommand(invocation: invocation, store: store).run()
      }
    }
  }
}

/// `fieldpack motion show`.
struct MotionShowCommand {
  static let session = Argument<String?>.optional(.text("session"), help: "The id of a session.")
  static let last = Option<Double?>.value(
    "last", .number("s", atLeast: 0), help: "Only so many seconds before the last sample.")
  static let channels = Option<[MotionChannel]>.values(
    "channel", .choice("name"), help: "Only this channel; may be repeated.")
  static let svg = Option<String?>.value(
    "svg", .file("file", "svg"), help: "Draw the channels over time into this file.")

  let invocation: Invocation
  let store: GeoPackageStore
  private var arguments: ParsedArguments { invocation.arguments }
  private var isJSON: Bool { arguments[CommonOptions.json] }

  func run() async throws(FieldpackError) -> Int32 {
    let sessions = try await store.motionSessions()
    guard arguments[Self.session] != nil || arguments[Self.svg] != nil else {
      try show(sessions)
      return ExitStatus.success
    }
    let session = try chosen(sessions)
    let samples = try await store.motionSamples(
      ofSession: session.session.id, last: arguments[Self.last])
    let named = arguments[Self.channels]
    let channels = MotionChannel.allCases.filter { channel in
      (named.isEmpty || named.contains(channel))
        && samples.contains { $0.reading[channel] != nil }
    }
    if let path = arguments[Self.svg] { try draw(session, samples, channels, into: path) }
    try show(session, channels.map { ChannelSummary($0, samples) })
    return ExitStatus.success
  }

  /// The session that is named, or the only one.
  func chosen(
    _ sessions: [StoredMotionSession]
  ) throws(FieldpackError) -> StoredMotionSession {
    let names = sessions.map(\.session.id)
    let list = names.isEmpty ? "it has none" : "it has: \(names.joined(separator: ", "))"
    guard let name = arguments[Self.session] else {
      if sessions.count == 1 { return sessions[0] }
      throw FieldpackError(
        sessions.isEmpty ? .notFound : .invalidArgument,
        "one session is shown so (\(list)). Try: name it")
    }
    guard let session = sessions.first(where: { $0.session.id == name }) else {
      throw FieldpackError(
        .notFound, "there is no session '\(name)' in \(arguments[MotionArguments.file]) (\(list))",
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
      replacing: path, overwrite: arguments[ExportArguments.overwrite])
    output.buffer.append(contentsOf: plot.bytes())
    try output.finish()
  }

  // MARK: Output

  private func show(_ sessions: [StoredMotionSession]) throws(FieldpackError) {
    if isJSON { return try invocation.print(["sessions": .array(sessions.map(\.document))]) }
    guard !sessions.isEmpty else { return invocation.console.note("there is no motion") }
    try table(
      [
        TableColumn("session"), TableColumn("device"), TableColumn("first"),
        TableColumn("seconds", isNumeric: true), TableColumn("rate", isNumeric: true),
        TableColumn("samples", isNumeric: true), TableColumn("state"),
      ],
      sessions.map { session in
        [
          session.session.id, session.session.device.name,
          session.first.map { Instant(unixSeconds: $0).description } ?? "",
          session.seconds.map { Self.text($0, decimals: 2) } ?? "", session.session.rateText,
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
    try table(
      [
        TableColumn("channel"), TableColumn("unit"), TableColumn("samples", isNumeric: true),
        TableColumn("least", isNumeric: true), TableColumn("mean", isNumeric: true),
        TableColumn("greatest", isNumeric: true),
      ],
      channels.map { channel in
        [channel.channel.rawValue, channel.channel.unit, "\(channel.count)"]
          + [channel.least, channel.mean, channel.greatest].map { Self.text($0, decimals: 4) }
      })
  }

  private func table(_ columns: [TableColumn], _ rows: [[String]]) throws(FieldpackError) {
    let terminal = invocation.console.terminal
    try invocation.print(
      TextTable.text(
        columns, rows, width: terminal.cutWidth, usesUnicode: terminal.usesUnicode))
  }

  /// A number with so many decimals, as people read it.
  private static func text(_ value: Double, decimals: Int) -> String {
    let scale = [1.0, 10, 100, 1000, 10_000][decimals]
    let scaled = (value * scale).rounded()
    guard abs(scaled) < 1e15 else { return "\(value)" }
    let digits = String(Int(scaled).magnitude)
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    return (scaled < 0 ? "-" : "") + "\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
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
