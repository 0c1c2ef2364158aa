import FieldpackGeoPackage
import FieldpackGeometry

/// The findings about one geometry blob, compared with the rules of its column.
struct BlobExamination {
  /// What the column requires of its geometries.
  struct Rules {
    var column = GeometryRules()
    /// Whether a non-standard extension encodes geometries of this column.
    var allowsExtended = false
    /// The systems that the file defines.
    var systems: Set<Int64> = []
  }

  struct Fault {
    var level = ConformanceFinding.Level.error
    var requirement: Requirement
    var reason: String
    var mend: Mend?
  }

  enum Mend {
    /// The header can be rebuilt from the WKB.
    case header
    /// The column's rule for Z or M can be changed to fit.
    case z, m
  }

  /// The box that an R-tree must have for the row.
  enum IndexBox {
    /// The box must contain the first envelope and lie within the second; `nil` where that limit is
    /// not known.
    case needed(Envelope, atMost: Envelope?)
    case none
    /// The geometry cannot be read.
    case unknown
  }

  private(set) var faults: [Fault] = []
  private(set) var indexBox = IndexBox.unknown
  private(set) var envelope: Envelope?
  private(set) var type: GeometryType?

  /// Whether the geometry can be read, and its lines and rings are whole.
  private(set) var isWhole = false

  init(_ blob: RawSpan, _ rules: Rules) {
    let header: GeoPackageBinary
    do throws(GeometryError) {
      header = try GeoPackageBinary(blob)
    } catch {
      faults.append(Fault(requirement: .core(19), reason: error.description))
      return
    }
    examineSystem(header, rules)
    if let code = header.extensionCode {
      faults.append(
        Fault(
          level: rules.allowsExtended ? .note : .error, requirement: .core(19),
          reason: "it is in the extended encoding '\(code)', not WKB"))
      return
    }
    let wkb = blob.extracting(droppingFirst: header.bodyOffset)
    var survey = GeometrySurvey()
    do throws(GeometryError) {
      let geometry = try WKB.header(of: wkb)
      try WKB.visit(wkb, with: &survey)
      type = geometry.type
      examineWKB(geometry, survey, rules)
    } catch {
      let shifted = GeometryError(error.kind, at: error.offset + header.bodyOffset, error.message)
      faults.append(Fault(requirement: .core(20), reason: shifted.description))
      return
    }
    envelope = survey.envelope
    isWhole = !survey.isEmpty && survey.fault == nil
    examineHeader(header, survey)
    // A curve reaches beyond its positions, so an envelope computed from them would be wrong.
    if survey.hasCurves { forgetHeaderMends() }
    settleIndexBox(header, survey)
  }

  // MARK: Header

  private mutating func examineSystem(_ header: GeoPackageBinary, _ rules: Rules) {
    guard let wanted = rules.column.srsID, let breach = rules.column.breach(of: header) else {
      return
    }
    let found = Int64(header.srsID)
    // An srs_id of another known system may be right, and the column wrong.
    let saysNothing = found == 0 || found == -1 || !rules.systems.contains(found)
    let isWritable = Int32(exactly: wanted) != nil && rules.systems.contains(wanted)
    faults.append(
      Fault(
        requirement: .core(33), reason: rules.column.reason(breach),
        mend: saysNothing && isWritable && !header.isExtended ? .header : nil))
  }

  private mutating func examineHeader(_ header: GeoPackageBinary, _ survey: GeometrySurvey) {
    if header.hasReservedFlags {
      add(.warning, 19, "reserved flags are set", .header)
    }
    if survey.isEmpty {
      if !header.isFlaggedEmpty {
        add(.error, 152, "it is empty, and not flagged as such", .header)
      }
      if header.envelope != nil { add(.error, 152, "it is empty, and has an envelope", .header) }
      return
    }
    if header.isFlaggedEmpty {
      add(.error, 152, "it is flagged as empty, and has positions", .header)
    }
    guard let box = survey.envelope else { return }
    if header.hasUnusableEnvelope {
      add(.error, 19, "its envelope is of no numbers, or the wrong way round", .header)
    } else if let stated = header.envelope {
      compare(stated, with: box, isCurved: survey.hasCurves)
    }
  }

  /// Compares the stated envelope with the positions' envelope. A curve reaches beyond its
  /// positions, so its stated envelope may be larger.
  private mutating func compare(_ stated: Envelope, with found: Envelope, isCurved: Bool) {
    let slack =
      1e-9
      * max(
        abs(found.minX), abs(found.maxX), abs(found.minY), abs(found.maxY), 1e-3)
    guard slack.isFinite else { return }
    if !stated.grown(by: slack).contains(found) {
      add(.error, 19, "its envelope does not hold it", .header)
    } else if !isCurved, !found.grown(by: slack).contains(stated) {
      add(.warning, 19, "its envelope is larger than it", .header)
    }
  }

  private mutating func add(
    _ level: ConformanceFinding.Level, _ requirement: Int, _ reason: String, _ mend: Mend?
  ) {
    faults.append(
      Fault(level: level, requirement: .core(requirement), reason: reason, mend: mend))
  }

  private mutating func forgetHeaderMends() {
    for index in faults.indices where faults[index].mend == .header { faults[index].mend = nil }
  }

  /// The blob with a correct header; `nil` where its own header can stay.
  static func mended(_ blob: RawSpan, _ rules: Rules) -> [UInt8]? {
    let examination = BlobExamination(blob, rules)
    let mendable = examination.faults.filter { $0.mend == .header }
    guard !mendable.isEmpty, let header = try? GeoPackageBinary(blob) else { return nil }
    var srsID = header.srsID
    if mendable.contains(where: { $0.requirement == .core(33) }), let wanted = rules.column.srsID {
      srsID = Int32(exactly: wanted) ?? srsID
    }
    var result: [UInt8] = []
    let wkb = blob.extracting(droppingFirst: header.bodyOffset)
    do throws(GeometryError) {
      try GeoPackageBinary.append(
        wkb: wkb, srsID: srsID, to: &result, policy: .fixed(header.envelopeContents))
      return result
    } catch {
      return nil
    }
  }

  // MARK: Body

  private mutating func examineWKB(
    _ geometry: WKB.Header, _ survey: GeometrySurvey, _ rules: Rules
  ) {
    for breach in rules.column.breaches(of: geometry) {
      let (requirement, mend): (Int, Mend?) =
        switch breach {
        case .system: (33, nil)
        case .extendedWKB: (20, .header)
        case .foreignType: (20, nil)
        case .type: (32, nil)
        case .prohibitedZ, .missingZ: (27, .z)
        case .prohibitedM, .missingM: (28, .m)
        }
      add(.error, requirement, rules.column.reason(breach), mend)
    }
    if let fault = survey.fault {
      faults.append(Fault(level: .warning, requirement: .shape, reason: fault))
    }
  }

  private mutating func settleIndexBox(_ header: GeoPackageBinary, _ survey: GeometrySurvey) {
    guard let found = survey.envelope else {
      // Writers differ about indexing positions that are all NaN, so both ways are accepted.
      indexBox = survey.isEmpty ? .none : .unknown
      return
    }
    var most = found
    if let stated = header.envelope { most.formUnion(stated) }
    indexBox = .needed(found, atMost: survey.hasCurves && header.envelope == nil ? nil : most)
  }
}

extension Envelope {
  func grown(by margin: Double) -> Envelope {
    Envelope(
      minX: minX - margin, minY: minY - margin, maxX: maxX + margin, maxY: maxY + margin)
  }
}
