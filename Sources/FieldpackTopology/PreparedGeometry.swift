import CGEOS
public import FieldpackGeometry

/// One geometry prepared for relations to many features, such as the constant of a filter.
///
/// Where the envelopes decide, ``decision(on:of:)`` answers without reading the feature's geometry.
/// Confined to one task together with its context.
public final class PreparedGeometry {
  /// The geometry itself.
  public let base: TopologyGeometry
  /// The box around the geometry; `nil` where it is empty.
  public let envelope: Envelope?
  /// Whether the geometry is an axis-aligned rectangle with an area.
  public let isRectangle: Bool
  private let prepared: OpaquePointer
  private var grid: Grid = .notYet(asked: 0)
  private var context: TopologyContext { base.context }

  /// Prepares a geometry in well-known binary.
  public convenience init(
    wkb: RawSpan, in context: TopologyContext
  ) throws(TopologyError) {
    try self.init(try context.read(wkb: wkb))
  }

  /// Prepares a geometry value.
  public convenience init(
    _ geometry: Geometry, in context: TopologyContext
  ) throws(TopologyError) {
    try self.init(try context.read(geometry))
  }

  public init(_ base: TopologyGeometry) throws(TopologyError) {
    guard let prepared = GEOSPrepare_r(base.context.handle, base.pointer) else {
      throw base.context.failure("GEOS cannot prepare the geometry")
    }
    self.base = base
    self.prepared = prepared
    envelope = base.envelope
    isRectangle = Self.isRectangle(base)
  }

  deinit { GEOSPreparedGeom_destroy_r(context.handle, prepared) }

  /// Whether the feature in `wkb` has `relation` to this geometry; `nil` where one of the two is
  /// empty.
  ///
  /// For `.within` the feature has to lie within this geometry.
  /// - Throws: ``TopologyError/Kind/invalidGeometry``, ``TopologyError/Kind/notFinite``,
  ///   ``TopologyError/Kind/failed``.
  public func test(
    _ relation: SpatialRelation, of wkb: RawSpan
  ) throws(TopologyError) -> Bool? {
    var check = InputCheck()
    if case .made(let sides) = grid { check.sides = sides }
    try context.check(wkb, with: &check)
    if let decided = Self.answer(to: relation, check) { return decided }
    let feature = try context.makeGeometry(wkb, check)
    defer { GEOSGeom_destroy_r(context.handle, feature) }
    if envelope == nil || GEOSisEmpty_r(context.handle, feature) == 1 { return nil }
    return try base.answer(
      "the relation '\(relation.rawValue)' holds", call(relation, of: feature))
  }

  /// Whether the feature and this geometry are no more than `distance` apart; `nil` where one of
  /// the two is empty.
  public func isWithin(
    _ distance: Double, of wkb: RawSpan
  ) throws(TopologyError) -> Bool? {
    try base.check(distance, "distance")
    let feature = try context.makeGeometry(wkb)
    defer { GEOSGeom_destroy_r(context.handle, feature) }
    if envelope == nil || GEOSisEmpty_r(context.handle, feature) == 1 { return nil }
    return try base.answer(
      "the geometries lie within \(distance) of one another",
      GEOSPreparedDistanceWithin_r(context.handle, prepared, feature, distance))
  }

  /// The distance between the feature and this geometry; `nil` where one of the two is empty.
  public func distance(to wkb: RawSpan) throws(TopologyError) -> Double? {
    let feature = try context.makeGeometry(wkb)
    defer { GEOSGeom_destroy_r(context.handle, feature) }
    if envelope == nil || GEOSisEmpty_r(context.handle, feature) == 1 { return nil }
    var distance = 0.0
    guard GEOSPreparedDistance_r(context.handle, prepared, feature, &distance) == 1 else {
      throw context.failure("GEOS cannot tell the distance")
    }
    return distance
  }

  // GEOS takes the prepared geometry as the first operand, our relations take the feature: hence
  // the converse.
  private func call(_ relation: SpatialRelation, of feature: OpaquePointer) -> CChar {
    let handle = context.handle
    return switch relation {
    case .intersects: GEOSPreparedIntersects_r(handle, prepared, feature)
    case .disjoint: GEOSPreparedDisjoint_r(handle, prepared, feature)
    case .within: GEOSPreparedContains_r(handle, prepared, feature)
    case .contains: GEOSPreparedWithin_r(handle, prepared, feature)
    case .covers: GEOSPreparedCoveredBy_r(handle, prepared, feature)
    case .coveredBy: GEOSPreparedCovers_r(handle, prepared, feature)
    case .touches: GEOSPreparedTouches_r(handle, prepared, feature)
    case .crosses: GEOSPreparedCrosses_r(handle, prepared, feature)
    case .overlaps: GEOSPreparedOverlaps_r(handle, prepared, feature)
    case .equals: GEOSEquals_r(handle, feature, base.pointer)
    }
  }
}

extension PreparedGeometry {
  /// The answer to ``test(_:of:)`` where the feature's envelope decides it; `nil` where
  /// the geometry must be read.
  ///
  /// - Parameter feature: The exact box around a feature that is not empty. It must not be too
  ///   small, nor, where the answer is `true`, too large; an R-tree's rounded box cannot be used.
  public func decision(
    on relation: SpatialRelation, of feature: Envelope
  ) -> Bool? {
    guard let envelope, !feature.isEmpty else { return nil }
    if !envelope.intersects(feature) { return relation == .disjoint }
    switch relation {
    case .within, .coveredBy:
      if !envelope.contains(feature) { return false }
    case .contains, .covers:
      if !feature.contains(envelope) { return false }
    case .equals:
      if !feature.contains(envelope) || !envelope.contains(feature) { return false }
    case .intersects, .disjoint, .touches, .crosses, .overlaps: break
    }
    if isRectangle,
      let decided = rectangleDecision(on: relation, of: feature, in: envelope)
    {
      return decided
    }
    return side(of: feature).map { Self.answer(to: relation, on: $0) }
  }

  /// The answer to ``test(_:of:)`` for a feature that is not empty and lies within
  /// `box`; `nil` where the box does not decide it.
  public func decision(on relation: SpatialRelation, within box: Envelope) -> Bool? {
    guard let envelope, !box.isEmpty else { return nil }
    if !envelope.intersects(box) { return relation == .disjoint }
    return side(of: box).map { Self.answer(to: relation, on: $0) }
  }

  private static func answer(to relation: SpatialRelation, on side: Side) -> Bool {
    switch relation {
    case .disjoint: side == .outside
    case .intersects, .within, .coveredBy: side == .inside
    case .contains, .covers, .touches, .crosses, .overlaps, .equals: false
    }
  }

  private func rectangleDecision(
    on relation: SpatialRelation, of feature: Envelope, in rectangle: Envelope
  ) -> Bool? {
    guard rectangle.contains(feature) else { return nil }
    switch relation {
    case .intersects, .coveredBy: return true
    case .disjoint: return false
    default: break
    }
    return nil
  }

  // MARK: Sides

  /// The answer that one position's side gives; `nil` where GEOS has to be asked.
  private static func answer(to relation: SpatialRelation, _ check: InputCheck) -> Bool? {
    // GEOS gets a converted geometry, whose positions may differ from these.
    if check.needsConversion { return nil }
    switch relation {
    case .intersects: return check.hasInside ? true : nil
    case .disjoint: return check.hasInside ? false : nil
    case .within, .coveredBy: return check.hasOutside ? false : nil
    case .contains, .covers, .touches, .crosses, .overlaps, .equals: return nil
    }
  }

  private enum Grid {
    /// The grid is not worth its cost before some boxes have been asked about.
    case notYet(asked: Int)
    case made(SideGrid?)
  }

  private static let boxesBeforeGrid = 32

  /// The side of the geometry on which all of `box` lies, apart from its boundary, lines and
  /// points; `nil` where that is not known.
  private func side(of box: Envelope) -> Side? {
    if isRectangle, let envelope {
      // A box that does not touch the rectangle's border has only interior points of the rectangle.
      let isInside =
        box.minX > envelope.minX && box.maxX < envelope.maxX && box.minY > envelope.minY
        && box.maxY < envelope.maxY
      return isInside ? .inside : nil
    }
    switch grid {
    case .made(let made): return made?.side(of: box)
    case .notYet(let asked):
      grid = asked < Self.boxesBeforeGrid ? .notYet(asked: asked + 1) : .made(makeGrid())
      return nil
    }
  }

  /// The grid; `nil` for a geometry that is not valid, because GEOS's answers may then not follow
  /// from sides.
  private func makeGrid() -> SideGrid? {
    guard let envelope, (try? base.isValid()) == true, let wkb = try? base.wkb() else { return nil }
    var lines = LineCollector()
    guard (try? WKB.visit(wkb.span.bytes, with: &lines)) != nil else { return nil }
    return SideGrid(envelope: envelope, lines: lines) { x, y in
      guard let point = GEOSGeom_createPointFromXY_r(context.handle, x, y) else { return nil }
      defer { GEOSGeom_destroy_r(context.handle, point) }
      switch GEOSPreparedIntersects_r(context.handle, prepared, point) {
      case 0: return .outside
      case 1: return .inside
      default: return nil
      }
    }
  }

  private static func isRectangle(_ base: TopologyGeometry) -> Bool {
    guard let box = base.envelope, box.width > 0, box.height > 0,
      case .polygon(let rings, _)? = try? base.geometry(), rings.count == 1, rings[0].count == 5
    else { return false }
    let corners = rings[0]
    let isOnCorners = corners.allSatisfy {
      ($0.x == box.minX || $0.x == box.maxX) && ($0.y == box.minY || $0.y == box.maxY)
    }
    // Neighbouring corners share exactly one ordinate, so the ring has no diagonals and no repeated
    // corner.
    let isAround = (0..<4).allSatisfy {
      (corners[$0].x == corners[$0 + 1].x) != (corners[$0].y == corners[$0 + 1].y)
    }
    let hasFour = Set((0..<4).map { [corners[$0].x, corners[$0].y] }).count == 4
    return isOnCorners && isAround && hasFour
  }
}
