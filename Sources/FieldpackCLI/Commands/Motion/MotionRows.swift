import Fieldpack
import FieldpackCore
import FieldpackSQL

/// Which rows `fieldpack motion show` prints.
struct MotionRowArguments: OptionGroup {
  static let title: String? = "Rows"

  /// A moment, or a fix that has one.
  enum Moment: Sendable {
    case seconds(Double)
    case fix(LayerID, Int64)
  }

  let samples: Bool
  let rate: Double?
  let perSecond: Bool
  let nearest: Moment?
  let maximumGap: Double?
  let limit: Int?
  let format: RowFormat?

  init(_ reader: inout OptionReader) {
    samples = reader.flag("rows", help: "Show the samples.")
    rate = reader.value(
      "resample", .number("hz", atLeast: 0.001),
      help: "Show the mean of each step; so many steps a second.")
    perSecond = reader.flag(
      "per-second", help: "Show the least, mean and greatest value of each second.")
    nearest = reader.value(
      "nearest", .moment,
      help: "Show the samples nearest to a time, RFC 3339 or Unix seconds, or to a fix, layer:id.")
    maximumGap = reader.value(
      "max-gap", .number("s", atLeast: 0), shownDefault: "1",
      help: "How many seconds the nearest samples may be off.")
    limit = reader.value(
      "limit", .integer("n", in: 1...Int.max), shownDefault: "1",
      help: "At most so many of the nearest samples.")
    format = reader.rowFormat()
  }

  /// Whether rows are asked for.
  ///
  /// - Throws: `.invalidArgument` for what would have no meaning.
  func areAsked(of options: MotionShowCommand.Options) throws(FieldpackError) -> Bool {
    let asked = [samples, rate != nil, perSecond, nearest != nil].count { $0 }
    guard nearest != nil || (maximumGap == nil && limit == nil) else {
      throw FieldpackError(
        .invalidArgument, "--max-gap and --limit have a meaning with --nearest. Try: --nearest time"
      )
    }
    guard asked > 0 else {
      guard format == nil else {
        throw FieldpackError(
          .invalidArgument,
          "--format has a meaning with rows. Try: --rows, --resample, --per-second or --nearest")
      }
      return false
    }
    guard asked == 1 else {
      throw FieldpackError(
        .invalidArgument,
        "one of --rows, --resample, --per-second and --nearest is shown at a time")
    }
    guard options.last == nil || samples else {
      throw FieldpackError(
        .invalidArgument, "--last has a meaning with --rows, not with these rows")
    }
    guard options.session == nil || nearest == nil else {
      throw FieldpackError(
        .invalidArgument,
        "--nearest looks through all sessions. Try: without the name of a session")
    }
    return true
  }
}

/// `fieldpack motion show` with rows of samples, or of what they come to.
struct MotionRows {
  let invocation: Invocation
  let store: GeoPackageStore
  let options: MotionShowCommand.Options
  private var rows: MotionRowArguments { options.rows }

  func show() async throws(FieldpackError) -> Int32 {
    var output = SQLOutput.rows(invocation, rows.format)
    if let moment = rows.nearest {
      guard try await !store.motionSessions().isEmpty else {
        throw FieldpackError(.notFound, "\(store.shownPath) has no motion")
      }
      let query = MotionQuery.nearest(
        to: try await seconds(moment), within: rows.maximumGap ?? 1, limit: rows.limit ?? 1)
      try await add(query, to: &output, keeping: ["uuid", "id", "t_unix", "dt"])
    } else {
      let session = try await store.motionSession(named: options.session).session.id
      try await add(session, to: &output)
    }
    try output.begin([], sample: [])
    try output.finish()
    return ExitStatus.success
  }

  private var channels: [MotionChannel] {
    let named = options.channels
    return MotionChannel.allCases.filter { named.isEmpty || named.contains($0) }
  }

  private func add(_ session: String, to output: inout SQLOutput) async throws(FieldpackError) {
    if let rate = rows.rate {
      let query = MotionQuery.resampled(to: rate, session: session)
      return try await add(query, to: &output, keeping: ["t_unix", "samples"])
    }
    guard rows.perSecond else {
      let query = MotionQuery.samples(
        ofSession: session, channels, last: options.last)
      return try await add(query, to: &output, keeping: ["t_unix"])
    }
    for channel in channels {
      let query = MotionQuery.perSecond(channel, session: session)
      for try await batch in store.rows(sql: query.sql, parameters: query.parameters) {
        // A second without a value of the channel counts none.
        let rows = batch.rows.filter { $0[1] != .integer(0) }
          .map { [.text(channel.rawValue)] + $0 }
        try output.begin(["channel"] + batch.columns, sample: rows)
        for row in rows { try output.add(row) }
      }
    }
  }

  /// The columns of these names, and the channels that are asked for.
  private func add(
    _ query: MotionQuery, to output: inout SQLOutput, keeping names: [String]
  ) async throws(FieldpackError) {
    let kept = Set(names + channels.map(\.rawValue))
    for try await batch in store.rows(sql: query.sql, parameters: query.parameters) {
      let columns = batch.columns.indices.filter { kept.contains(batch.columns[$0]) }
      let rows = batch.rows.map { row in columns.map { row[$0] } }
      try output.begin(columns.map { batch.columns[$0] }, sample: rows)
      for row in rows { try output.add(row) }
    }
  }

  private func seconds(_ moment: MotionRowArguments.Moment) async throws(FieldpackError) -> Double {
    switch moment {
    case .seconds(let seconds): return seconds
    case .fix(let layer, let id):
      let location = KeyTuple.Partial(store: store.id, layer: layer, feature: .integer(id))
      guard let fix = try await store.feature(.integer(id), in: layer) else {
        throw FieldpackError(
          .notFound, "layer '\(layer)' has no feature \(id)", location: location)
      }
      for name in ["time_unix", "t_unix", "time", "timestamp"] {
        switch fix.attributes[name] {
        case .real(let seconds)?: return seconds
        case .dateTime(let instant)?: return Double(instant.milliseconds) / 1000
        case .text(let text)?:
          if let instant = Instant(text) { return Double(instant.milliseconds) / 1000 }
        default: continue
        }
      }
      throw FieldpackError(
        .invalidArgument, "feature \(id) of layer '\(layer)' has no time", location: location)
    }
  }
}

extension ValueForm where Value == MotionRowArguments.Moment {
  fileprivate static var moment: ValueForm {
    ValueForm("time|fix") { (text) throws(ValueError) -> MotionRowArguments.Moment in
      if let instant = Instant(text) { return .seconds(Double(instant.milliseconds) / 1000) }
      if let seconds = Double(text), seconds.isFinite { return .seconds(seconds) }
      if let colon = text.lastIndex(of: ":"), colon > text.startIndex,
        let id = Int64(text[text.index(after: colon)...])
      {
        return .fix(LayerID(String(text[..<colon])), id)
      }
      throw ValueError("is no time such as 2024-05-01T10:00:00Z, and no fix such as track_point:17")
    }
  }
}
