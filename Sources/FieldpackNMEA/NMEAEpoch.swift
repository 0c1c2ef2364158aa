import FieldpackCore

/// The sentences of one moment, or what one of them tells.
struct NMEAEpoch: Sendable {
  /// The sentences that tell something of a fix.
  enum Kind: UInt8, Sendable {
    case gga, rmc, gll, gns, vtg, gsa, gst

    init?(_ type: Substring.UTF8View) {
      switch String(Substring(type)) {
      case "GGA": self = .gga
      case "RMC": self = .rmc
      case "GLL": self = .gll
      case "GNS": self = .gns
      case "VTG": self = .vtg
      case "GSA": self = .gsa
      case "GST": self = .gst
      default: return nil
      }
    }

    /// Fewer fields than any edition of the standard has are a sentence that was cut.
    var minimumFields: Int {
      switch self {
      case .gga, .rmc, .gns: 10
      case .gll, .vtg: 5
      case .gsa: 3
      case .gst: 9
      }
    }

    /// Whether a sentence begins a moment where none is open.
    var opensEpoch: Bool { self != .vtg && self != .gsa }
  }

  var kinds: [Kind] = []
  /// Whether its fix is given already.
  var isGiven = false
  var time: Int?
  var day: Int?
  var variation: Double?
  private var longitude: Double?
  private var latitude: Double?
  /// Everything but the position and the time.
  private var rest = NMEAFix(longitude: 0, latitude: 0)
  private var dimension: Int?

  /// Whether a sentence is of the same moment.
  func takes(_ part: NMEAEpoch, _ kind: Kind) -> Bool {
    guard kind.opensEpoch else { return true }
    guard let time, let other = part.time else { return !kinds.contains(kind) }
    return time == other
  }

  /// Adds what `part` knows and this does not.
  mutating func merge(_ part: NMEAEpoch) {
    time = time ?? part.time
    day = day ?? part.day
    dimension = dimension ?? part.dimension
    if longitude == nil { (longitude, latitude) = (part.longitude, part.latitude) }
    func fill<Value>(_ path: WritableKeyPath<NMEAFix, Value?>) {
      if rest[keyPath: path] == nil { rest[keyPath: path] = part.rest[keyPath: path] }
    }
    fill(\.elevation)
    fill(\.geoidHeight)
    fill(\.quality)
    fill(\.satellites)
    fill(\.hdop)
    fill(\.vdop)
    fill(\.pdop)
    fill(\.ageOfCorrection)
    fill(\.station)
    fill(\.speed)
    fill(\.course)
    fill(\.accuracy)
  }

  /// The fix, where there is a position.
  func fix(at instant: Instant?) -> NMEAFix? {
    guard let longitude, let latitude else { return nil }
    var fix = rest
    (fix.longitude, fix.latitude) = (longitude, latitude)
    (fix.time, fix.timeOfDay) = (instant, time)
    switch (rest.quality, dimension) {
    case (2, _), (4, _), (5, _): fix.fix = "dgps"
    case (3, _): fix.fix = "pps"
    case (_, 2): fix.fix = "2d"
    case (_, 3): fix.fix = "3d"
    default: break
    }
    return fix
  }
}

extension NMEAEpoch {
  static let metresASecondInAKnot = 1852.0 / 3600

  /// What one sentence tells.
  init(_ sentence: NMEASentence, _ kind: Kind) throws(FieldpackError) {
    self.init()
    switch kind {
    case .gga: try readGGA(sentence)
    case .rmc: try readRMC(sentence)
    case .gll: try readGLL(sentence)
    case .gns: try readGNS(sentence)
    case .vtg: try readVTG(sentence)
    case .gsa: try readGSA(sentence)
    case .gst: try readGST(sentence)
    }
  }

  private mutating func readPosition(
    _ sentence: NMEASentence, at index: Int
  ) throws(FieldpackError) {
    guard
      let latitude = try sentence.degrees(index, limit: 90, positive: "N", negative: "S"),
      let longitude = try sentence.degrees(index + 2, limit: 180, positive: "E", negative: "W")
    else { return }
    (self.longitude, self.latitude) = (longitude, latitude)
  }

  private mutating func readGGA(_ sentence: NMEASentence) throws(FieldpackError) {
    time = try sentence.timeOfDay(1)
    let quality = try sentence.integer(6) ?? 0
    guard quality > 0 else { return }
    rest.quality = quality
    try readPosition(sentence, at: 2)
    try readQuality(sentence, satellites: 7, geoid: 11)
    rest.ageOfCorrection = try sentence.number(13)
    rest.station = try sentence.integer(14)
  }

  /// Satellites, HDOP and heights as GGA and GNS have them.
  private mutating func readQuality(
    _ sentence: NMEASentence, satellites: Int, geoid: Int
  ) throws(FieldpackError) {
    rest.satellites = try sentence.integer(satellites)
    rest.hdop = try sentence.number(satellites + 1)
    rest.elevation = try sentence.number(satellites + 2)
    rest.geoidHeight = try sentence.number(geoid)
  }

  private mutating func readRMC(_ sentence: NMEASentence) throws(FieldpackError) {
    time = try sentence.timeOfDay(1)
    variation = try sentence.signed(10, negative: "W")
    // A receiver without a fix may not know the date either.
    guard sentence.isLetter("A", 2), !sentence.isLetter("N", 12) else { return }
    try readPosition(sentence, at: 3)
    rest.speed = try sentence.number(7).map { $0 * Self.metresASecondInAKnot }
    rest.course = try sentence.bearing(8)
    day = try sentence.date(9)
  }

  private mutating func readGLL(_ sentence: NMEASentence) throws(FieldpackError) {
    time = try sentence.timeOfDay(5)
    guard !sentence.isLetter("V", 6), !sentence.isLetter("N", 7) else { return }
    try readPosition(sentence, at: 1)
  }

  private mutating func readGNS(_ sentence: NMEASentence) throws(FieldpackError) {
    time = try sentence.timeOfDay(1)
    guard sentence.field(6).contains(where: { $0 != UInt8(ascii: "N") }) else { return }
    try readPosition(sentence, at: 2)
    try readQuality(sentence, satellites: 7, geoid: 10)
    rest.ageOfCorrection = try sentence.number(11)
    rest.station = try sentence.integer(12)
  }

  private mutating func readVTG(_ sentence: NMEASentence) throws(FieldpackError) {
    guard !sentence.isLetter("N", 9) else { return }
    rest.course = try sentence.bearing(1)
    // Before edition 2 there were no letters between the numbers.
    let hasLetters = sentence.isLetter("T", 2)
    let knots = try sentence.number(hasLetters ? 5 : 3)
    let kilometres = try sentence.number(hasLetters ? 7 : 4)
    rest.speed = knots.map { $0 * Self.metresASecondInAKnot } ?? kilometres.map { $0 / 3.6 }
  }

  private mutating func readGSA(_ sentence: NMEASentence) throws(FieldpackError) {
    dimension = try sentence.integer(2)
    rest.pdop = try sentence.number(15)
    rest.hdop = try sentence.number(16)
    rest.vdop = try sentence.number(17)
  }

  private mutating func readGST(_ sentence: NMEASentence) throws(FieldpackError) {
    time = try sentence.timeOfDay(1)
    guard let latitude = try sentence.number(6), let longitude = try sentence.number(7) else {
      return
    }
    let deviation = (latitude * latitude + longitude * longitude).squareRoot()
    rest.accuracy = deviation.isFinite ? deviation : nil
  }
}

extension NMEASentence {
  /// A number of degrees with its direction in the next field.
  func signed(_ index: Int, negative: Character) throws(FieldpackError) -> Double? {
    guard let value = try number(index) else { return nil }
    guard abs(value) <= 180 else { throw unreadable(index, "degrees up to 180") }
    return isLetter(negative, index + 1) ? -value : value
  }
}
