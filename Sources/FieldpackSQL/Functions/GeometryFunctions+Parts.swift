import FieldpackGeometry
import FieldpackSQLite
import FieldpackTopology

/// Functions that take a geometry apart: members, rings and positions, numbered from 1.
///
/// SpatiaLite's functions of these names read nested collections beyond their end, know no curves,
/// and answer -1, which is true, for what they cannot read. So these functions replace them, with
/// and without `ST_`.
extension GeometryFunctions {
  func registerParts() throws(SQLiteError) {
    try addPart("NumGeometries") { $0.members?.count ?? ($0.isEmpty ? 0 : 1) }
    try addPart("GeometryN") { geometry, number in
      let members = geometry.members ?? (geometry.isEmpty ? [] : [geometry])
      return members.numbered(number)
    }
    for name in ["NumInteriorRing", "NumInteriorRings"] {
      try addPart(name) { $0.rings.map { max(0, $0.count - 1) } }
    }
    try addPart("InteriorRingN") { geometry, number in
      geometry.rings.map { Array($0.dropFirst()) }?.numbered(number)
    }
    try addPart("ExteriorRing") { (geometry) -> Geometry? in geometry.rings?.first }
    try addPart("NRings") { $0.ringCount }
    try addPart("NumPoints") { $0.ownPositions?.count }
    try addPart("PointN") { geometry, number in
      let points = geometry.ownPositions
      let ordinal = number < 0 ? (points?.count ?? 0) + number + 1 : number
      return points?.numbered(ordinal).map { .point($0, geometry.dimensions) }
    }
    try addPart("StartPoint") { (geometry) -> Geometry? in
      geometry.ends.map { .point($0.first, geometry.dimensions) }
    }
    try addPart("EndPoint") { (geometry) -> Geometry? in
      geometry.ends.map { .point($0.last, geometry.dimensions) }
    }
    try addPart("Dimension") { $0.topologicalDimension }
    try addPart("IsClosed") { $0.isClosed ? 1 : 0 }
    for name in ["ST_IsRing", "IsRing"] {
      try add(name, 1) { call in
        let shape = try call.withGeometry(0) { _, wkb in try WKB.read(wkb) }
        guard let shape, shape.isLine else { return }
        guard shape.isClosed else { return call.context.set(false) }
        let isSimple = try call.withGEOS(0) { geometry, _ in try geometry.isSimple() }
        if let isSimple { call.context.set(isSimple) }
      }
    }
  }

  private func addPart(
    _ name: String, _ count: @escaping @Sendable (Geometry) -> Int?
  ) throws(SQLiteError) {
    for name in ["ST_\(name)", name] {
      try add(name, 1) { call in
        let answer = try call.withGeometry(0) { _, wkb in count(try WKB.read(wkb)) }
        if let number = answer ?? nil { call.context.set(Int64(number)) }
      }
    }
  }

  private func addPart(
    _ name: String, _ part: @escaping @Sendable (Geometry) -> Geometry?
  ) throws(SQLiteError) {
    for name in ["ST_\(name)", name] {
      try add(name, 1) { call in try call.setPart(part) }
    }
  }

  private func addPart(
    _ name: String, _ part: @escaping @Sendable (Geometry, Int) -> Geometry?
  ) throws(SQLiteError) {
    for name in ["ST_\(name)", name] {
      try add(name, 2) { call in
        guard let number = try call.integer(1, in: Int64(Int32.min)...Int64(Int32.max)) else {
          return
        }
        try call.setPart { part($0, number) }
      }
    }
  }
}

extension GeometryCall {
  fileprivate func setPart(_ part: (Geometry) -> Geometry?) throws {
    let answer = try withGeometry(0) { header, wkb in
      try (part(WKB.read(wkb)), header.srsID)
    }
    if let (made, srsID) = answer, let made { set(made, srsID: srsID) }
  }
}

extension Array {
  /// The element at an ordinal, counted from 1.
  fileprivate func numbered(_ number: Int) -> Element? {
    number > 0 && number <= count ? self[number - 1] : nil
  }
}

extension Geometry {
  /// The members of a collection; `nil` for a single geometry.
  fileprivate var members: [Geometry]? {
    switch self {
    case .multiPoint(let points, let dimensions): points.map { .point($0, dimensions) }
    case .multiLineString(let lines, _): lines.map { .lineString($0) }
    case .multiPolygon(let polygons, let dimensions): polygons.map { .polygon($0, dimensions) }
    case .geometryCollection(let members, _): members
    case .composite(.multiCurve, let members, _), .composite(.multiSurface, let members, _),
      .composite(.polyhedralSurface, let members, _), .composite(.tin, let members, _):
      members
    default: nil
    }
  }

  /// The rings of a surface, the shell first; `nil` for other geometries.
  fileprivate var rings: [Geometry]? {
    switch self {
    case .polygon(let rings, _): rings.map { .lineString($0) }
    case .composite(.curvePolygon, let rings, _), .composite(.triangle, let rings, _): rings
    default: nil
    }
  }

  fileprivate var ringCount: Int {
    rings?.count ?? members?.reduce(0) { $0 + $1.ringCount } ?? 0
  }

  /// The positions of a line; `nil` for other geometries.
  fileprivate var ownPositions: [Position]? {
    switch self {
    case .lineString(let line), .circularString(let line): Array(line)
    default: nil
    }
  }

  fileprivate var isLine: Bool {
    switch self {
    case .lineString, .circularString, .composite(.compoundCurve, _, _): true
    default: false
    }
  }

  fileprivate var ends: (first: Position, last: Position)? {
    if case .composite(.compoundCurve, let members, _) = self {
      guard let first = members.first?.ends?.first, let last = members.last?.ends?.last else {
        return nil
      }
      return (first, last)
    }
    guard let positions = ownPositions, let first = positions.first, let last = positions.last
    else { return nil }
    return (first, last)
  }

  /// Whether the geometry consists of lines that end where they begin.
  fileprivate var isClosed: Bool {
    if isLine {
      guard let (first, last) = ends else { return false }
      return first.x == last.x && first.y == last.y && first.z == last.z
    }
    switch self {
    case .multiLineString, .composite(.multiCurve, _, _):
      return members.map { !$0.isEmpty && $0.allSatisfy(\.isClosed) } ?? false
    default: return false
    }
  }

  /// 0 for points, 1 for lines, 2 for surfaces. A collection has the highest value of its members.
  fileprivate var topologicalDimension: Int {
    switch type {
    case .point, .multiPoint: 0
    case .lineString, .multiLineString, .circularString, .compoundCurve, .multiCurve, .curve: 1
    case .geometryCollection, .geometry: members?.map(\.topologicalDimension).max() ?? 0
    default: 2
    }
  }
}
