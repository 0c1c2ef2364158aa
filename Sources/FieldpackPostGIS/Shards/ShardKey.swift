import FieldpackCore
package import FieldpackGeometry
import FieldpackRTree

/// Where the features of a layer stand on a Hilbert curve, which tells the server that has them.
///
/// The curve goes through 65,536 by 65,536 cells of ``area``. A feature's place is the cell of the middle
/// of its envelope; places outside of the area count as its nearest cell. So a box is answered by the
/// cells within half of ``reach`` of it, and features that are wider than the reach have a number of
/// their own.
package struct ShardKey: Hashable, Sendable {
  /// The column with the number of a feature.
  package static let column = "hilbert"
  /// Features that are wider or higher than the reach; every box asks for them.
  package static let wide: Int64 = -2
  /// Features without a place; no box finds them.
  package static let nowhere: Int64 = -1
  /// All numbers.
  package static let numbers: Range<Int64> = wide..<1 << 32
  /// The numbers of features that are not on the curve.
  package static let special: Range<Int64> = wide..<0

  /// In the layer's own system.
  package var area: Envelope
  /// The width and height, in units of the system, up to which features are on the curve.
  package var reach: Reach
  /// The column of the ids; the server cannot tell it, as it has no key over several servers.
  package var idColumn: String

  package struct Reach: Hashable, Sendable {
    package var width: Double
    package var height: Double

    package init(width: Double, height: Double) { (self.width, self.height) = (width, height) }
  }

  package init(area: Envelope, reach: Reach, idColumn: String) {
    (self.area, self.reach, self.idColumn) = (area, reach, idColumn)
  }

  /// Whether a feature can be wider than the reach: points cannot, as they have no width.
  var hasWide: Bool { reach.width > 0 || reach.height > 0 }

  /// The number of a feature.
  ///
  /// - Parameter envelope: `nil` for NULL and for an empty geometry.
  package func number(_ envelope: Envelope?) -> Int64 {
    guard let envelope, !envelope.isEmpty else { return Self.nowhere }
    // Also false for infinite and unknown sides.
    guard envelope.width <= reach.width, envelope.height <= reach.height else { return Self.wide }
    let x = cell(x: envelope.minX / 2 + envelope.maxX / 2)
    let y = cell(y: envelope.minY / 2 + envelope.maxY / 2)
    return Int64(Hilbert.index(x: x, y: y))
  }

  /// The numbers of all features on the curve whose envelope may touch the box, in few ranges; those
  /// that are ``wide`` come on top.
  package func ranges(touching box: Envelope, atMost limit: Int = 8) -> [Range<Int64>] {
    guard !box.isEmpty else { return [] }
    // A cell more on each side is more than the rounding of middles.
    let room: UInt32 = hasWide ? 1 : 0
    let (dx, dy) = (reach.width / 2, reach.height / 2)
    let x = Self.lower(cell(x: box.minX - dx), room)...Self.upper(cell(x: box.maxX + dx), room)
    let y = Self.lower(cell(y: box.minY - dy), room)...Self.upper(cell(y: box.maxY + dy), room)
    return HilbertCells(x: x, y: y).ranges(atMost: limit)
  }

  private static func lower(_ cell: UInt32, _ room: UInt32) -> UInt32 {
    cell < room ? 0 : cell - room
  }

  private static func upper(_ cell: UInt32, _ room: UInt32) -> UInt32 { min(65_535, cell + room) }

  private func cell(x: Double) -> UInt32 { Self.cell(x, from: area.minX, area.width) }
  private func cell(y: Double) -> UInt32 { Self.cell(y, from: area.minY, area.height) }

  private static func cell(_ value: Double, from start: Double, _ length: Double) -> UInt32 {
    guard length > 0 else { return 0 }
    let place = (value - start) / length * 65_536
    return place.isNaN ? 0 : UInt32(max(0, min(65_535, place.rounded(.down))))
  }
}

extension GeometryType {
  /// Whether the envelope of a geometry is that of its positions: arcs go beyond theirs. All others
  /// count as too wide when they are written here.
  var hasPositionsOnly: Bool {
    switch self {
    case .point, .lineString, .polygon, .multiPoint, .multiLineString, .multiPolygon: true
    default: false
    }
  }
}

// MARK: In the database

extension ShardKey {
  /// What the comment of the column ``column`` says, from which everybody knows the curve.
  package var comment: String {
    let sides: [Double] = [area.minX, area.minY, area.maxX, area.maxY]
    return JSONValue.object([
      .init(name: "fieldpack", value: "hilbert"),
      .init(name: "area", value: .array(sides.map { .real($0) })),
      .init(name: "reach", value: .array([.real(reach.width), .real(reach.height)])),
      .init(name: "id", value: .text(idColumn)),
    ]).text
  }

  /// - Returns: `nil` for any other comment.
  package init?(comment: String) {
    guard let value = try? JSONValueReader.read(comment, maximumDepth: 4),
      value["fieldpack"]?.string == "hilbert", let id = value["id"]?.string,
      let area = Self.numbers(value["area"]), area.count == 4,
      let reach = Self.numbers(value["reach"]), reach.count == 2
    else { return nil }
    self.init(
      area: Envelope(minX: area[0], minY: area[1], maxX: area[2], maxY: area[3]),
      reach: Reach(width: reach[0], height: reach[1]), idColumn: id)
    guard !self.area.isEmpty, reach.allSatisfy({ $0 >= 0 }) else { return nil }
  }

  private static func numbers(_ value: JSONValue?) -> [Double]? {
    guard case .array(let elements)? = value else { return nil }
    let numbers = elements.compactMap(\.number).filter(\.isFinite)
    return numbers.count == elements.count ? numbers : nil
  }
}
