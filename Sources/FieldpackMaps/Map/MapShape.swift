package import FieldpackGeometry

/// A position on a map, in the units of its SRS.
package struct MapPoint: Hashable, Sendable {
  package var x: Double
  package var y: Double

  package init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }

  var isFinite: Bool { x.isFinite && y.isFinite }
}

/// What a map is drawn from.
package enum MapShape: Hashable, Sendable {
  case point(MapPoint)
  case line([MapPoint])
  /// The rings, filled by the even-odd rule.
  case polygon([[MapPoint]])
}

/// Something that shapes are drawn on.
package protocol MapDrawing {
  mutating func draw(_ shape: MapShape)
  /// Draws every part of the geometry; arcs are drawn through their control points.
  mutating func draw(_ geometry: Geometry)
}

extension MapDrawing {
  package mutating func draw(_ geometry: Geometry) {
    var waiting = [geometry]
    while let next = waiting.popLast() {
      switch next {
      case .point(let position, _): if let position { draw(.point(MapPoint(position))) }
      case .multiPoint(let positions, _):
        for position in positions { if let position { draw(.point(MapPoint(position))) } }
      case .lineString(let line), .circularString(let line): draw(.line(line.map(MapPoint.init)))
      case .multiLineString(let lines, _):
        for line in lines { draw(.line(line.map(MapPoint.init))) }
      case .polygon(let rings, _): draw(Self.polygon(rings))
      case .multiPolygon(let polygons, _):
        for rings in polygons { draw(Self.polygon(rings)) }
      case .geometryCollection(let members, _): waiting += members.reversed()
      case .composite(let type, let members, _):
        if type == .curvePolygon || type == .triangle {
          draw(.polygon(members.map(Self.outline)))
        } else {
          waiting += members.reversed()
        }
      }
    }
  }

  private static func polygon(_ rings: [CoordinateSequence]) -> MapShape {
    .polygon(rings.map { $0.map(MapPoint.init) })
  }

  /// The vertices of a ring, whatever curves it is made of.
  private static func outline(_ ring: Geometry) -> [MapPoint] {
    switch ring {
    case .lineString(let line), .circularString(let line): return line.map(MapPoint.init)
    case .composite(_, let parts, _):
      return parts.flatMap { part -> [MapPoint] in
        switch part {
        case .lineString(let line), .circularString(let line): line.map(MapPoint.init)
        default: []
        }
      }
    default: return []
    }
  }
}

extension MapPoint {
  fileprivate init(_ position: Position) { self.init(position.x, position.y) }
}
