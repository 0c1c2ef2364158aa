import Fieldpack
import FieldpackCore
import FieldpackSQL

/// `fieldpack motion show` with rows of samples, or of what they come to.
struct MotionRows {
  /// A moment, or a fix that has one.
  enum Moment: Sendable {
    case seconds(Double)
    case fix(LayerID, Int64)
  }

  private static let rows = Option<Bool>.flag("rows", help: "Show the samples.")
  private static let resample = Option<Double?>.value(
    "resample", .number("hz", atLeast: 0.001), help: "Show the means of so many steps a second.")
  private static let perSecond = Option<Bool>.flag(
    "per-second", help: "Show the least, mean and greatest value of each second.")
  private static let nearest = Option<Moment?>.value(
    "nearest", .moment,
    help: "Show the samples nearest to a time, RFC 3339 or Unix seconds, or to a fix, layer:id.")
  private static let within = Option<Double>.value(
    "within", .number("s", atLeast: 0), default: 1, shownAs: "1",
    help: "How far off the nearest samples may be.")
  private static let limit = Option<Int>.value(
    "limit", .integer("n", in: 1...Int.max), default: 1, help: "How many of the nearest.")
  private static let format = Option<SQLCommand.Format>.value(
    "format", .choice("format"), default: .table, shownAs: "table", help: "How rows look.")

  static let group = OptionGroup(
    "Rows", [rows, resample, perSecond, nearest, within, limit, format])

  private let invocation: Invocation
  private let store: GeoPackageStore
  private var arguments: ParsedArguments { invocation.arguments }

  /// `nil` where no rows are asked for.
  init?(_ invocation: Invocation, _ store: GeoPackageStore) throws(FieldpackError) {
    self.invocation = invocation
    self.store = store
    let arguments = invocation.arguments
    let asked = [
      arguments[Self.rows], arguments[Self.resample] != nil, arguments[Self.perSecond],
      arguments[Self.nearest] != nil,
    ].count { $0 }
    try Self.check(arguments, areRows: asked > 0)
    guard asked > 0 else { return nil }
    guard asked == 1, arguments[MotionShowCommand.svg] == nil else {
      throw FieldpackError(
        .invalidArgument,
        "one of --rows, --resample, --per-second, --nearest and --svg is shown at a time")
    }
    guard arguments[MotionShowCommand.last] == nil || arguments[Self.rows] else {
      throw FieldpackError(
        .invalidArgument, "--last has a meaning with --rows, not with these rows")
    }
  }

  /// Refuses what would have no meaning.
  private static func check(
    _ arguments: ParsedArguments, areRows: Bool
  ) throws(FieldpackError) {
    guard arguments[nearest] != nil || !(arguments.contains(within) || arguments.contains(limit))
    else {
      throw FieldpackError(
        .invalidArgument, "--within and --limit have a meaning with --nearest. Try: --nearest time")
    }
    guard !areRows else { return }
    guard !arguments.contains(format) else {
      throw FieldpackError(
        .invalidArgument,
        "--format has a meaning with rows. Try: --rows, --resample, --per-second or --nearest")
    }
    let isSession =
      arguments[MotionShowCommand.session] != nil || arguments[MotionShowCommand.svg] != nil
    guard
      isSession
        || !(arguments[MotionShowCommand.last] != nil
          || !arguments[MotionShowCommand.channels].isEmpty)
    else {
      throw FieldpackError(
        .invalidArgument,
        "--last and --channel have a meaning with a session. Try: name one, or --rows or --svg")
    }
  }

  func show() async throws(FieldpackError) -> Int32 {
    var output = SQLOutput.rows(invocation, Self.format)
    let sessions = try await store.motionSessions()
    if let moment = arguments[Self.nearest] {
      guard !sessions.isEmpty else {
        throw FieldpackError(.notFound, "\(store.shownPath) has no motion")
      }
      let query = MotionQuery.nearest(
        to: try await seconds(moment), within: arguments[Self.within], limit: arguments[Self.limit])
      try await add(query, to: &output, keeping: ["uuid", "id", "t_unix", "dt"])
    } else {
      let show = MotionShowCommand(invocation: invocation, store: store)
      let session = try show.chosen(sessions).session.id
      try await add(session, to: &output)
    }
    try output.begin([], sample: [])
    try output.finish()
    return ExitStatus.success
  }

  private var channels: [MotionChannel] {
    let named = arguments[MotionShowCommand.channels]
    return MotionChannel.allCases.filter { named.isEmpty || named.contains($0) }
  }

  private func add(_ session: String, to output: inout SQLOutput) async throws(FieldpackError) {
    if let rate = arguments[Self.resample] {
      let query = MotionQuery.resampled(to: rate, session: session)
      return try await add(query, to: &output, keeping: ["t_unix", "samples"])
    }
    guard arguments[Self.perSecond] else {
      let query = MotionQuery.samples(
        ofSession: session, channels, last: arguments[MotionShowCommand.last])
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

  private func seconds(_ moment: Moment) async throws(FieldpackError) -> Double {
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

extension ValueForm where Value == MotionRows.Moment {
  fileprivate static var moment: ValueForm {
    ValueForm("time|fix") { (text) throws(ValueError) -> MotionRows.Moment in
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
