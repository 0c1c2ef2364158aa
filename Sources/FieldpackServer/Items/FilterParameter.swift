import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// The parameters `filter`, `filter-lang` and `filter-crs`.
enum FilterParameter {
  /// - Throws: `.invalidArgument`.
  static func filter(
    _ text: String, language: String?, crs: String?, of layer: ServedLayer,
    by axes: CRSAxes
  ) throws(FieldpackError) -> Filter {
    let isJSON = text.utf8.first { $0 > 0x20 } == UInt8(ascii: "{")
    // `true` and `false` are conditions of both languages.
    let isTruth = ["true", "false"].contains(text)
    switch language {
    case nil: break
    case "cql2-text" where isTruth, "cql2-json" where isTruth: break
    case "cql2-text" where !isJSON, "cql2-json" where isJSON: break
    case let name? where ["cql2-text", "cql2-json"].contains(name):
      throw FieldpackError(.invalidArgument, "the filter is not in \(name)")
    case let name?:
      throw FieldpackError(
        .invalidArgument, "filter-lang is neither cql2-text nor cql2-json: '\(name)'")
    }
    var filter = try Filter(cql2: text)
    let known = layer.schema
    for name in filter.columns where !layer.isQueryable(name) {
      throw FieldpackError(
        .invalidArgument,
        "collection '\(layer.collectionID)' has no queryable '\(name)'"
          + NearNames.question(name, in: known.columns.map(\.name)))
    }
    var system = CRSName.crs84
    if let crs {
      system = try BoxParameter.system(crs)
      let isNorthFirst = try axes.isNorthFirst(system, for: layer)
      filter = filter.inSystem(system.srs, swapped: isNorthFirst)
    }
    if system.srs == .wgs84, layer.storageCRS != nil, !filter.isOnEarth {
      throw FieldpackError(
        .invalidArgument, "a position of the filter has no latitude between -90 and 90")
    }
    return filter
  }
}

extension ServedLayer {
  /// Whether a condition can name a column: an attribute, the id, or the geometry.
  fileprivate func isQueryable(_ name: String) -> Bool {
    schema.columnIndex(name) != nil || idName(name) != nil
      || schema.geometry.map { SQLName($0.name) == SQLName(name) } ?? false
  }
}

extension Filter {
  /// The condition with its geometries in another system.
  ///
  /// - Parameter swapped: whether their positions have latitude or northing first.
  fileprivate func inSystem(_ srs: SRS, swapped: Bool) -> Filter {
    func turned(_ geometry: Geometry) -> Geometry { swapped ? geometry.turned : geometry }
    switch self {
    case .relation(let relation, let geometry, _, let column):
      return .relation(relation, turned(geometry), srs: srs, column: column)
    case .test(let test, let geometry, _, let column):
      return .test(test, turned(geometry), srs: srs, column: column)
    case .spatial(let relation, let a, let b):
      func operand(_ operand: SpatialOperand) -> SpatialOperand {
        guard case .geometry(let geometry, _) = operand else { return operand }
        return .geometry(turned(geometry), srs: srs)
      }
      return .spatial(relation, operand(a), operand(b))
    case .and(let parts): return .and(parts.map { $0.inSystem(srs, swapped: swapped) })
    case .or(let parts): return .or(parts.map { $0.inSystem(srs, swapped: swapped) })
    case .not(let part): return .not(part.inSystem(srs, swapped: swapped))
    default: return self
    }
  }
}

extension Filter {
  /// Whether all geometries of the condition, which are in degrees, have latitudes from -90 to 90.
  fileprivate var isOnEarth: Bool {
    func isSound(_ geometry: Geometry) -> Bool {
      guard let box = geometry.envelope, !box.isEmpty else { return true }
      return box.minY >= -90 && box.maxY <= 90
    }
    switch self {
    case .relation(_, let geometry, _, _), .test(_, let geometry, _, _):
      return isSound(geometry)
    case .spatial(_, let a, let b):
      return [a, b].allSatisfy { operand in
        guard case .geometry(let geometry, _) = operand else { return true }
        return isSound(geometry)
      }
    case .and(let parts), .or(let parts): return parts.allSatisfy(\.isOnEarth)
    case .not(let part): return part.isOnEarth
    default: return true
    }
  }
}

extension Geometry {
  /// The geometry with x and y in each other's place.
  var turned: Geometry {
    var turning = Turning()
    visit(with: &turning)
    return turning.builder.geometry ?? self
  }
}

private struct Turning: GeometryVisitor {
  var builder = GeometryBuilder()

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    builder.begin(type, dimensions, count: count)
  }
  mutating func beginRing(count: Int?) { builder.beginRing(count: count) }
  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    builder.position(y, x, z, m)
  }
  mutating func endRing() { builder.endRing() }
  mutating func end(_ type: GeometryType) { builder.end(type) }
}
