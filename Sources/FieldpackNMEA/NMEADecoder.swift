package import FieldpackCore

/// Reads NMEA 0183 sentences of any talker and merges those of one moment into a fix.
///
/// - GGA, RMC, GLL and GNS give positions, unless they say that there is none; VTG the speed, GSA and
///   GST the accuracy, ZDA and RMC the date, HDT, THS and HDG headings, WPL waypoints. Others are
///   passed over. HDG needs a variation, its own or RMC's.
/// - A fix is complete when a sentence of another moment comes, or the end; with `completesEarly`
///   also with the last sentence of a cycle, once two cycles in a row were the same.
/// - A sentence without a checksum is taken, one with a wrong checksum is an error.
package struct NMEADecoder: Sendable {
  private let completesEarly: Bool
  private var clock: NMEAClock
  private var epoch: NMEAEpoch?
  /// The sentences of the two cycles before this one.
  private var cycles: (last: [NMEAEpoch.Kind], before: [NMEAEpoch.Kind]) = ([], [])
  private var variation: Double?
  /// What is complete; whoever drives the decoder empties it.
  package var events: [NMEAEvent] = []

  /// - Parameter firstDay: the day number of the first time, where it is known; see ``firstDay``.
  package init(completesEarly: Bool = false, firstDay: Int? = nil) {
    self.completesEarly = completesEarly
    clock = NMEAClock(firstDay: firstDay)
  }

  /// The day number of the first time in the input, once a date was there.
  package var firstDay: Int? { clock.firstDay }

  /// Takes a line without its end.
  ///
  /// - Throws: `.invalidData`; what came before and comes after is not lost.
  package mutating func take(_ line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) {
    let sentence = try NMEASentence(line)
    guard let kind = NMEAEpoch.Kind(sentence.type) else { return try takeOther(sentence) }
    try sentence.require(kind.minimumFields)
    let part = try NMEAEpoch(sentence, kind)
    if let given = part.variation { variation = given }
    join(part, kind)
  }

  private mutating func join(_ part: NMEAEpoch, _ kind: NMEAEpoch.Kind) {
    if let open = epoch, !open.takes(part, kind) { closeEpoch() }
    guard epoch != nil || kind.opensEpoch else { return }
    if epoch == nil {
      epoch = part
    } else {
      epoch?.merge(part)
    }
    epoch?.kinds.append(kind)
    completeCycle()
  }

  /// Gives the fix as soon as the sentences are those of the cycles before.
  private mutating func completeCycle() {
    guard completesEarly, let kinds = epoch?.kinds, epoch?.isGiven == false, kinds == cycles.last,
      kinds == cycles.before
    else { return }
    give()
  }

  private mutating func give() {
    guard let open = epoch else { return }
    epoch?.isGiven = true
    let instant = open.time.flatMap { clock.instant($0, day: open.day) }
    if let fix = open.fix(at: instant) { events.append(.fix(fix)) }
  }

  private mutating func closeEpoch() {
    if epoch?.isGiven == false { give() }
    cycles = (epoch?.kinds ?? [], cycles.last)
    epoch = nil
  }

  /// Gives what is still open at the end of the input.
  package mutating func finish() { closeEpoch() }

  // MARK: What makes no fix

  private mutating func takeOther(_ sentence: NMEASentence) throws(FieldpackError) {
    switch String(Substring(sentence.type)) {
    case "ZDA": try takeDate(sentence)
    case "HDT": try takeHeading(sentence.bearing(1))
    case "THS" where !sentence.isLetter("V", 2): try takeHeading(sentence.bearing(1))
    case "HDG": try takeMagnetic(sentence)
    case "WPL": try takeWaypoint(sentence)
    default: break
    }
  }

  private mutating func takeHeading(_ degrees: Double?) throws(FieldpackError) {
    if let degrees { events.append(.heading(degrees: degrees)) }
  }

  private mutating func takeMagnetic(_ sentence: NMEASentence) throws(FieldpackError) {
    guard let reading = try sentence.bearing(1) else { return }
    let deviation = try sentence.signed(2, negative: "W") ?? 0
    guard let variation = try sentence.signed(4, negative: "W") ?? variation else { return }
    let degrees = (reading + deviation + variation).truncatingRemainder(dividingBy: 360)
    events.append(.heading(degrees: degrees < 0 ? degrees + 360 : degrees))
  }

  private mutating func takeDate(_ sentence: NMEASentence) throws(FieldpackError) {
    try sentence.require(5)
    guard let time = try sentence.timeOfDay(1), let day = try sentence.integer(2),
      let month = try sentence.integer(3), let year = try sentence.integer(4)
    else { return }
    guard 1900...9999 ~= year, let date = CalendarDate(year: year, month: month, day: day) else {
      throw FieldpackError(.invalidData, "\(year)-\(month)-\(day) of \(sentence.name) is no date")
    }
    if epoch?.time == time, epoch?.isGiven == false {
      if epoch?.day == nil { epoch?.day = date.dayNumber }
    } else {
      if epoch?.isGiven == false { closeEpoch() }
      _ = clock.instant(time, day: date.dayNumber)
    }
  }

  private mutating func takeWaypoint(_ sentence: NMEASentence) throws(FieldpackError) {
    try sentence.require(6)
    guard
      let latitude = try sentence.degrees(1, limit: 90, positive: "N", negative: "S"),
      let longitude = try sentence.degrees(3, limit: 180, positive: "E", negative: "W")
    else { return }
    events.append(
      .waypoint(name: sentence.text(5) ?? "", longitude: longitude, latitude: latitude))
  }
}
