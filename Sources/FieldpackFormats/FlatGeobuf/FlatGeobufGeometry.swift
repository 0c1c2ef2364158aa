import FieldpackCore
import FieldpackGeometry

/// Reads the geometries of a FlatGeobuf file into WKB.
struct FlatGeobufGeometry {
  private let dimensions: Dimensions
  private var writer = WKBWriter()
  private(set) var type = GeometryType.geometry
  /// The bytes that a geometry may still take up: tables may be shared in a FlatBuffer, and each way
  /// to a table counts anew, so that a small file cannot become a large geometry.
  private var room = 0

  /// The geometry that was read last, empty where a feature has none.
  var wkb: [UInt8] { writer.bytes }
  var envelope: Envelope? { writer.envelope.isEmpty ? nil : writer.envelope }

  init(_ dimensions: Dimensions) {
    self.dimensions = dimensions
    writer.writesTypesOfGeoPackage = true
  }

  /// The types that a GeoPackage does not have, as what they were read.
  var replacedTypes: [GeometryType] {
    GeometryType.allCases.filter(writer.replacedTypes.contains)
  }

  /// Forgets the last geometry.
  mutating func clear() { writer.reset() }

  /// Reads a feature's geometry, of the type that the header gives all features, else of its own.
  mutating func read(_ table: FlatTable, as given: GeometryType) throws(FieldpackError) {
    writer.reset()
    room = table.flat.bytes.count
    let found = given.isConcrete ? given : try Self.type(of: table)
    guard found.isConcrete else {
      throw FieldpackError(.invalidData, "the geometry has no type")
    }
    type = found.ofGeoPackage
    try read(table, found, depth: 1)
  }

  private static func type(of table: FlatTable) throws(FieldpackError) -> GeometryType {
    let raw = try table.integer(6, default: UInt8(0))
    guard let type = GeometryType(rawValue: UInt32(raw)) else {
      throw FieldpackError(.invalidData, "the geometry type \(raw) is unknown")
    }
    return type
  }

  private mutating func read(
    _ table: FlatTable, _ type: GeometryType, depth: Int
  ) throws(FieldpackError) {
    guard depth <= WKB.maximumDepth else {
      throw FieldpackError(
        .invalidData, "geometries are nested more than \(WKB.maximumDepth) deep")
    }
    // A table has eight bytes or more, with the offset that leads to it.
    try take(8)
    switch type {
    case .point, .lineString, .circularString, .polygon, .triangle, .multiPoint, .multiLineString:
      try readPositions(table, type)
    default:
      try readParts(table, type, depth: depth)
    }
  }

  private mutating func take(_ bytes: Int) throws(FieldpackError) {
    room -= bytes
    guard room >= 0 else {
      throw FieldpackError(.invalidData, "the geometry has parts that are used more than once")
    }
  }

  // MARK: Parts

  private mutating func readParts(
    _ table: FlatTable, _ type: GeometryType, depth: Int
  ) throws(FieldpackError) {
    let parts = try table.vector(7, of: 4)
    if parts == nil, let xy = try table.vector(1, of: 8), xy.count > 0 {
      throw FieldpackError(.invalidData, "the \(type.name) has positions and no parts")
    }
    writer.begin(type, dimensions, count: parts?.count ?? 0)
    for index in 0..<(parts?.count ?? 0) {
      guard let part = try parts?.table(index) else { continue }
      let own = try Self.type(of: part)
      let member = Self.member(of: type) ?? own
      guard type.canHold(member) else {
        throw FieldpackError(.invalidData, "\(type.name) cannot hold a \(member.name)")
      }
      try read(part, member, depth: depth + 1)
    }
    writer.end(type)
  }

  /// The one type that all parts have, so that they need not say it.
  private static func member(of type: GeometryType) -> GeometryType? {
    switch type {
    case .multiPolygon, .polyhedralSurface: .polygon
    case .tin: .triangle
    default: nil
    }
  }

  // MARK: Positions

  /// The positions of one table.
  private struct Positions {
    let xy: FlatVector
    let z: FlatVector?
    let m: FlatVector?

    var count: Int { xy.count / 2 }
  }

  private func positions(_ table: FlatTable) throws(FieldpackError) -> Positions? {
    guard let xy = try table.vector(1, of: 8), xy.count > 0 else { return nil }
    guard xy.count % 2 == 0 else {
      throw FieldpackError(.invalidData, "an x has no y")
    }
    let z = dimensions.hasZ ? try ordinates("z", table, 2, xy.count / 2) : nil
    let m = dimensions.hasM ? try ordinates("m", table, 3, xy.count / 2) : nil
    return Positions(xy: xy, z: z, m: m)
  }

  private func ordinates(
    _ name: String, _ table: FlatTable, _ field: Int, _ count: Int
  ) throws(FieldpackError) -> FlatVector {
    guard let found = try table.vector(field, of: 8), found.count >= count else {
      throw FieldpackError(.invalidData, "the geometry lacks the \(name) that the file has")
    }
    return found
  }

  private mutating func readPositions(
    _ table: FlatTable, _ type: GeometryType
  ) throws(FieldpackError) {
    let positions = try positions(table)
    if let positions { try take(positions.xy.count * 8) }
    switch type {
    case .multiPoint:
      writer.begin(type, dimensions, count: positions?.count ?? 0)
      for index in 0..<(positions?.count ?? 0) {
        writer.begin(.point, dimensions, count: 1)
        if let positions { write(positions, index..<index + 1) }
        writer.end(.point)
      }
      writer.end(type)
    case .polygon, .triangle, .multiLineString:
      writer.begin(type, dimensions)
      if let positions { try readRuns(positions, table, type) }
      writer.end(type)
    default:
      writer.begin(type, dimensions, count: positions?.count ?? 0)
      guard type != .point || positions?.count ?? 1 == 1 else {
        throw FieldpackError(.invalidData, "the POINT has more than one position")
      }
      if let positions { write(positions, 0..<positions.count) }
      writer.end(type)
    }
  }

  /// The rings of a polygon, or the lines of a collection of lines.
  private mutating func readRuns(
    _ positions: Positions, _ table: FlatTable, _ type: GeometryType
  ) throws(FieldpackError) {
    guard let ends = try table.vector(0, of: 4), ends.count > 0 else {
      return writeRun(positions, 0..<positions.count, type)
    }
    try take(ends.count * 4)
    var start = 0
    for index in 0..<ends.count {
      let end = ends.unsigned(index)
      guard end >= start, end <= positions.count else {
        throw FieldpackError(.invalidData, "the ends of rings or lines do not ascend")
      }
      writeRun(positions, start..<end, type)
      start = end
    }
  }

  private mutating func writeRun(
    _ positions: Positions, _ range: Range<Int>, _ type: GeometryType
  ) {
    if type == .multiLineString {
      writer.begin(.lineString, dimensions, count: range.count)
      write(positions, range)
      writer.end(.lineString)
    } else {
      writer.beginRing(count: range.count)
      write(positions, range)
      writer.endRing()
    }
  }

  private mutating func write(_ positions: Positions, _ range: Range<Int>) {
    if dimensions == .xy { return writer.positions(positions.xy.doubles(range, each: 2)) }
    for index in range {
      writer.position(
        positions.xy.double(2 * index), positions.xy.double(2 * index + 1),
        positions.z?.double(index) ?? .nan, positions.m?.double(index) ?? .nan)
    }
  }
}
