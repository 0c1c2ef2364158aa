import CPROJ
public import FieldpackGeometry

/// Transforms positions from one spatial reference system to another, arrays at a time.
///
/// x is longitude or easting and y latitude or northing on both sides, whatever axis order the
/// authority defines. Where several operations lead from source to target (an area each), PROJ
/// chooses for every position the best one whose area holds it. A position outside the area of use
/// of source or target is transformed as far as the formulas carry and fails where they do not.
///
/// Owns a PROJ context: confined to one task at a time, one for every task or connection. The
/// network is off, so grids are used only where they are installed.
public final class CoordinateTransformation {
  public let source: SRSReference
  public let target: SRSReference
  /// Where the positions are, in degrees; narrows the choice of operations.
  public let areaOfInterest: Envelope?
  // nil where source and target are the same: positions stay as they are, bit for bit.
  let operation: Operation?
  /// The positions of the geometry at hand.
  var scratch = WKBPositions()
  private var reported: TransformationReport?

  /// - Throws: ``ProjectionError/Kind/unknownSRS``; ``ProjectionError/Kind/undefinedSRS`` where one
  ///   side is GeoPackage's -1 or 0 and the other is not the same;
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

  /// Whether nothing is to be done, because source and target are the same.
  public var isIdentity: Bool { operation == nil }

  /// The operation that is best for the area of interest, or for the whole of source and target
  /// without one; single positions may be served by another, see the type's description.
  ///
  /// Its `missingGrids` are those of more accurate operations whose grids are not installed.
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
  /// The operation from source to target, axes in the order x, y, with the context it lives in.
  final class Operation {
    let context: ProjectionContext
    let object: ProjectionObject
    /// The quicker way to the same positions, where there is one.
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
