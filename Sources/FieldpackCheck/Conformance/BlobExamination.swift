import FieldpackGeoPackage
import FieldpackGeometry

/// A geometry as it lies in its blob, held against its column.
struct BlobExamination {
  /// What the column asks of its geometries.
  struct Rules {
    var type: GeometryType?
    var srsID: Int64?
    var z: Int64?
    var m: Int64?
    /// Whether an extension of the file's own encodes geometries of this column.
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
    /// The header can be written anew from the WKB.
    case header
    /// What the column says of Z or M can be made to fit.
    case z, m
  }

  /// What an R-tree has to hold for the row.
  enum IndexBox {
    /// A box that holds the first and is at most the second; `nil` where that cannot be told.
    case needed(Envelope, atMost: Envelope?)
    case none
    /// The geometry cannot be read.
    case unknown
  }

  private(set) var faults: [Fault] = []
  private(set) var indexBox = IndexBox.unknown
  private(set) var envelope: Envelope?
  private(set) var type: GeometryType?

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
      let place = GeometryError(error.kind, at: error.offset + header.bodyOffset, error.message)
      faults.append(Fault(requirement: .core(20), reason: place.description))
      return
    }
    envelope = survey.envelope
    examineHeader(header, survey)
    // Positions do not tell how far a curve reaches.
    if survey.hasCurves { forgetHeaderMends() }
    settleIndexBox(header, survey)
  }

  // MARK: Header

  private mutating func examineSystem(_ header: GeoPackageBinary, _ rules: Rules) {
    guard let wanted = rules.srsID, Int64(header.srsID) != wanted else { return }
    let found = Int64(header.srsID)
    // A number that names another system may be right where the column is wrong.
    let saysNothing = found == 0 || found == -1 || !rules.systems.contains(found)
    let isWritable = Int32(exactly: wanted) != nil && rules.systems.contains(wanted)
    faults.append(
      Fault(
        requirement: .core(33), reason: "its srs_id is \(found), not \(wanted)",
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

  /// Positions of a curve do not reach as far as the curve.
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
    for place in faults.indices where faults[place].mend == .header { faults[place].mend = nil }
  }

  /// The blob with a header that is right; `nil` where the one it has can stay.
  static func mended(_ blob: RawSpan, _ rules: Rules) -> [UInt8]? {
    let examination = BlobExamination(blob, rules)
    let mendable = examination.faults.filter { $0.mend == .header }
    guard !mendable.isEmpty, let header = try? GeoPackageBinary(blob) else { return nil }
    var srsID = header.srsID
    if mendable.contains(where: { $0.requirement == .core(33) }), let wanted = rules.srsID {
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
    if geometry.isExtended {
      add(.error, 20, "it is PostGIS's extended WKB, not ISO WKB", .header)
    }
    if geometry.type.rawValue > GeometryType.surface.rawValue {
      add(.error, 20, "\(geometry.type.name) is no type of GeoPackage", nil)
    } else if let wanted = rules.type, !wanted.accepts(geometry.type) {
      add(.error, 32, "it is a \(geometry.type.name), not a \(wanted.name)", nil)
    }
    examineOrdinate("Z", geometry.dimensions.hasZ, rules.z, 27, .z)
    examineOrdinate("M", geometry.dimensions.hasM, rules.m, 28, .m)
    if let fault = survey.fault {
      faults.append(Fault(level: .warning, requirement: .shape, reason: fault))
    }
  }

  private mutating func examineOrdinate(
    _ name: StaticString, _ has: Bool, _ rule: Int64?, _ requirement: Int, _ mend: Mend
  ) {
    if has, rule == 0 { add(.error, requirement, "it has \(name), which is prohibited", mend) }
    if !has, rule == 1 { add(.error, requirement, "it has no \(name), which is mandatory", mend) }
  }

  private mutating func settleIndexBox(_ header: GeoPackageBinary, _ survey: GeometrySurvey) {
    guard let found = survey.envelope else {
      // Positions of NaN alone have no place in an index, and writers differ about them.
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
