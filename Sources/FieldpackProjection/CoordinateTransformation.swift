import CPROJ
public import FieldpackGeometry

/// Transforms positions from one spatial reference system to another, many at a time.
///
/// On both sides x is longitude or easting and y is latitude or northing, independent of the
/// authority's axis order. Where several operations lead from source to target, each for an area,
/// PROJ chooses for each position the best operation whose area contains it. A position outside the
/// area of use of source or target is transformed as far as the formulas allow; beyond that it
/// fails.
///
/// Owns a PROJ context, so it is confined to one task at a time; every task or connection makes its
/// own. The network is off: only installed grids are used.
public final class CoordinateTransformation {
  public let source: SRSReference
  public let target: SRSReference
  /// The area of the positions, in degrees; it narrows the choice of operations.
  public let areaOfInterest: Envelope?
  // `nil` where source and target are the same; positions then stay bit for bit.
  let operation: Operation?
  /// The positions of the geometry that is being transformed.
  var scratch = WKBPositions()
  private var reported: TransformationReport?

  /// - Throws: ``ProjectionError/Kind/unknownSRS``; ``ProjectionError/Kind/undefinedSRS`` where one
  ///   side is GeoPackage's -1 or 0 and the other side differs;
  ///   ``ProjectionError/Kind/noOperation``.
  public convenience init(
    from source: SRS, to target: SRS, areaOfInterest: Envelope? = nil
  ) throws(ProjectionError) {
    try self.init(
      from: SRSReference(source), to: SRSReference(target), areaOfInterest: areaOfInterest)
  }

  public init(
    from source: SRSReference, to target: SRSReference, areaOfInterest: Envelope? = nil
  ) throws(ProjectionError) {
    self.source = source
    self.target = target
    self.areaOfInterest = areaOfInterest
    if source == target {
      operation = nil
    } else {
      operation = try Operation(from: source, to: target, areaOfInterest: areaOfInterest)
    }
  }

  /// Whether positions stay as they are, because source and target are the same.
  public var isIdentity: Bool { operation == nil }

  /// The best operation for the area of interest, or without one for the whole of source and
  /// target. PROJ may choose another operation for a single position, see the description of the
  /// type.
  ///
  /// Its `missingGrids` are the grids, not installed, of more accurate operations.
  public var report: TransformationReport {
    if let reported { return reported }
    let made = makeReport()
    reported = made
    return made
  }

  private func makeReport() -> TransformationReport {
    guard let operation else {
      return TransformationReport(
        source: source.description, target: target.description, operation: "none needed",
        accuracy: 0, missingGrids: [])
    }
    return operation.report(from: source, to: target, areaOfInterest: areaOfInterest)
  }
}

extension CoordinateTransformation {
  /// The operation from source to target, with axes in the order x, y, and its PROJ context.
  final class Operation {
    let context: ProjectionContext
    let object: ProjectionObject
    /// A faster operation with the same results, where there is one.
    let direct: DirectOperation?
    let takesDegrees: Bool
    let givesDegrees: Bool

    init(
      from source: SRSReference, to target: SRSReference, areaOfInterest: Envelope?
    ) throws(ProjectionError) {
      let context = try ProjectionContext()
      let from = try context.object(of: source)
      let to = try context.object(of: target)
      let area = areaOfInterest.map { box in
        let area = proj_area_create()
        proj_area_set_bbox(area, box.minX, box.minY, box.maxX, box.maxY)
        return area
      }
      defer { if let area { proj_area_destroy(area) } }
      let made = proj_create_crs_to_crs_from_pj(
        context.handle, from.handle, to.handle, area ?? nil, nil)
      guard let made else {
        throw ProjectionError(
          .noOperation,
          "PROJ has no operation from \(source) to \(target): "
            + (context.takeMessage() ?? "no reason given"))
      }
      let plain = ProjectionObject(made)
      guard let normalized = proj_normalize_for_visualization(context.handle, plain.handle) else {
        throw ProjectionError(
          .noOperation,
          "PROJ cannot order the axes from \(source) to \(target) as x, y: "
            + (context.takeMessage() ?? "no reason given"))
      }
      context.silence()
      self.context = context
      object = ProjectionObject(normalized)
      direct = DirectOperation.equal(to: object, in: context)
      takesDegrees = proj_degree_input(normalized, PJ_FWD) != 0
      givesDegrees = proj_degree_output(normalized, PJ_FWD) != 0
    }
  }
}
