import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The part of a condition that a service tests.
///
/// Services differ in case, collation, NULL, rounding and time zones. So the part never loses a feature
/// that meets the condition: it lets more through, and what comes is tested again here. A negation
/// can only be pushed where its condition is understood alike everywhere.
struct PushedFilter: Sendable {
  /// `nil` where the service gets no condition.
  var filter: FESFilter?
  /// Whether the service gives exactly the features that meet the condition.
  var isExact: Bool

  static let nothing = PushedFilter(filter: nil, isExact: false)
}

/// Finds what of conditions on one layer a service can test.
struct FilterPushing {
  /// A geometry with more positions goes as its box.
  private static let maximumPositions = 500
  private static let maximumItems = 200

  let schema: Schema
  /// What the service says that it tests; see ``WFSCapabilities/operators``.
  let operators: Set<String>
  let placing: LiteralPlacing

  func push(_ filter: Filter) throws(FieldpackError) -> PushedFilter {
    let pushed = try translated(filter)
    guard let found = pushed.filter, !operators.isSuperset(of: found.operators) else {
      return pushed
    }
    return .nothing
  }

  private func translated(_ filter: Filter) throws(FieldpackError) -> PushedFilter {
    switch filter {
    case .all: return PushedFilter(filter: nil, isExact: true)
    case .compare(let a, let comparison, let b): return compare(a, comparison, b)
    case .between(.column(let name), let low, let high):
      guard let low = low.constant, let high = high.constant else { return .nothing }
      return both(
        compare(name, .greaterOrEqual, low), compare(name, .lessOrEqual, high),
        name)
    case .isIn(.column(let name), let items): return isIn(name, items)
    case .isNull(.column(let name)): return isNull(name)
    case .like(.column(let name), let pattern, let folding):
      return folding.isEmpty ? like(name, pattern) : .nothing
    case .and(let parts): return try and(parts)
    case .or(let parts): return try or(parts)
    case .not(let part):
      let inner = try push(part)
      guard inner.isExact, let filter = inner.filter else { return .nothing }
      return PushedFilter(filter: .not(filter), isExact: false)
    default: return PushedFilter(filter: try spatial(filter), isExact: false)
    }
  }

  private func and(_ parts: [Filter]) throws(FieldpackError) -> PushedFilter {
    var pushed: [FESFilter] = []
    var isExact = true
    for part in parts {
      let part = try push(part)
      isExact = isExact && part.isExact
      if let filter = part.filter { pushed.append(filter) }
    }
    let filter: FESFilter? = pushed.count > 1 ? .and(pushed) : pushed.first
    return PushedFilter(filter: filter, isExact: isExact)
  }

  private func or(_ parts: [Filter]) throws(FieldpackError) -> PushedFilter {
    var pushed: [FESFilter] = []
    var isExact = true
    for part in parts {
      let part = try push(part)
      guard let filter = part.filter else { return .nothing }
      isExact = isExact && part.isExact
      pushed.append(filter)
    }
    guard !pushed.isEmpty else { return .nothing }
    return PushedFilter(filter: pushed.count > 1 ? .or(pushed) : pushed[0], isExact: isExact)
  }

  // MARK: Attributes

  private func compare(_ a: Operand, _ comparison: Comparison, _ b: Operand) -> PushedFilter {
    if case .column(let name) = a, let value = b.constant {
      return compare(name, comparison, value)
    }
    if case .column(let name) = b, let value = a.constant {
      return compare(name, comparison.mirrored, value)
    }
    return .nothing
  }

  private func compare(_ name: String, _ comparison: Comparison, _ value: Value) -> PushedFilter {
    guard case .attribute(let index)? = schema.role(of: name) else { return .nothing }
    let column = schema.columns[index]
    switch column.type {
    case .tinyInt, .smallInt, .mediumInt, .integer:
      guard case .integer(let number) = value, abs(Double(number)) < 0x1p53 else { return .nothing }
      // A service may let NULL through where it is not equal.
      return PushedFilter(
        filter: .compare(column.name, comparison, String(number)),
        isExact: comparison != .notEqual)
    case .float, .double: return real(column.name, comparison, value)
    case .text:
      guard comparison == .equal, case .text(let text) = value, Self.isPlain(text) else {
        return .nothing
      }
      return PushedFilter(filter: .compare(column.name, .equal, text), isExact: false)
    case .date, .dateTime: return moment(column, comparison, value)
    default: return .nothing
    }
  }

  /// Numbers may be stored with fewer digits than they are written with, so bounds are widened.
  private func real(_ name: String, _ comparison: Comparison, _ value: Value) -> PushedFilter {
    guard let number = Double(attributeValue: value), number.isFinite else { return .nothing }
    let margin = max(abs(number) * 1e-6, 1e-9)
    return widened(
      name, comparison, low: Self.text(number - margin), high: Self.text(number + margin))
  }

  /// Moments may be read in another time zone, so bounds are widened by a day.
  private func moment(
    _ column: ColumnDefinition, _ comparison: Comparison, _ value: Value
  ) -> PushedFilter {
    guard case .moment(let milliseconds) = Scalar(value).asMoment else { return .nothing }
    let day: Int64 = 86_400_000
    func text(_ milliseconds: Int64) -> String {
      let text = Instant(milliseconds: milliseconds).description
      return column.type == .date ? String(text.prefix(10)) : text
    }
    return widened(
      column.name, comparison, low: text(milliseconds - day), high: text(milliseconds + day))
  }

  private func widened(
    _ name: String, _ comparison: Comparison, low: String, high: String
  ) -> PushedFilter {
    let filter: FESFilter? =
      switch comparison {
      case .equal: .between(name, low: low, high: high)
      case .notEqual: nil
      case .less, .lessOrEqual: .compare(name, .lessOrEqual, high)
      case .greater, .greaterOrEqual: .compare(name, .greaterOrEqual, low)
      }
    return PushedFilter(filter: filter, isExact: false)
  }

  /// Two bounds of one column.
  private func both(_ low: PushedFilter, _ high: PushedFilter, _ name: String) -> PushedFilter {
    guard case .compare(let name, _, let from)? = low.filter,
      case .compare(_, _, let to)? = high.filter
    else { return .nothing }
    return PushedFilter(
      filter: .between(name, low: from, high: to), isExact: low.isExact && high.isExact)
  }

  private func isIn(_ name: String, _ items: [Operand]) -> PushedFilter {
    guard !items.isEmpty, items.count <= Self.maximumItems else { return .nothing }
    var parts: [FESFilter] = []
    var isExact = true
    for item in items {
      guard let value = item.constant else { return .nothing }
      let part = compare(name, .equal, value)
      guard let filter = part.filter else { return .nothing }
      isExact = isExact && part.isExact
      parts.append(filter)
    }
    return PushedFilter(filter: parts.count > 1 ? .or(parts) : parts[0], isExact: isExact)
  }

  /// A text may be empty here and NULL for the service, or the other way round.
  private func isNull(_ name: String) -> PushedFilter {
    guard case .attribute(let index)? = schema.role(of: name) else { return .nothing }
    let column = schema.columns[index]
    switch column.type {
    case .tinyInt, .smallInt, .mediumInt, .integer, .float, .double:
      return PushedFilter(filter: .isNull(column.name), isExact: true)
    default: return .nothing
    }
  }

  /// Only letters and digits of ASCII are left in the pattern; all else becomes a wildcard.
  private func like(_ name: String, _ pattern: String) -> PushedFilter {
    guard case .attribute(let index)? = schema.role(of: name),
      case .text = schema.columns[index].type
    else { return .nothing }
    var pushed = ""
    for element in LikePattern(pattern).elements {
      if case .character(let scalar) = element, scalar.isASCII,
        scalar.properties.isAlphabetic
          || ("0"..."9").contains(scalar)
      {
        pushed.unicodeScalars.append(scalar)
      } else if pushed.last != "%" {
        pushed += "%"
      }
    }
    guard !pushed.isEmpty, pushed != "%" else { return .nothing }
    return PushedFilter(filter: .like(schema.columns[index].name, pushed), isExact: false)
  }

  /// Whether no service or parser changes the text: it has no white space that may be collapsed.
  private static func isPlain(_ text: String) -> Bool {
    guard let first = text.first, let last = text.last, !first.isWhitespace, !last.isWhitespace
    else { return false }
    return !text.unicodeScalars.contains { $0.value < 0x20 } && !text.contains("  ")
  }

  private static func text(_ number: Double) -> String {
    var bytes: [UInt8] = []
    NumberText.append(number, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Geometries

  private func spatial(_ filter: Filter) throws(FieldpackError) -> FESFilter? {
    // A geometry cannot be written where the layer's system is not understood.
    guard let column = schema.geometry, !column.srs.isUndefined else { return nil }
    switch filter {
    case .envelope(let relation, let box, let srs)
    where relation == .intersects || relation == .within:
      return boxes(try placing.boxes(box, srs))
    case .vertex(let box, let srs): return boxes(try placing.boxes(box, srs))
    case .relation(let relation, let geometry, let srs, _) where relation != .disjoint:
      let placed = try placing.geometry(geometry, srs)
      guard let envelope = placed.envelope else { return nil }
      guard operators.contains("intersects"), !placed.hasMixedMembers,
        placed.coordinateCount <= Self.maximumPositions
      else { return .box(envelope) }
      return .intersects(placed)
    case .test(.within(let distance, let metric), let geometry, let srs, _):
      return near(try placing.geometry(geometry, srs), distance, metric)
    default: return nil
    }
  }

  private func boxes(_ boxes: [Envelope]) -> FESFilter? {
    let all = [boxes].joined().map { FESFilter.box($0) }
    guard all.allSatisfy({ $0.box?.isFinite ?? false }) else { return nil }
    return all.count > 1 ? .or(all) : all.first
  }

  /// The box around everything within a distance.
  private func near(_ geometry: Geometry, _ distance: Double, _ metric: DistanceMetric)
    -> FESFilter?
  {
    guard var box = geometry.envelope, distance.isFinite else { return nil }
    var reach = (x: distance, y: distance)
    if metric == .geodesic {
      guard schema.geometry?.srs == .wgs84 else { return nil }
      // No degree of latitude is shorter than 110,574 m, and none of longitude than that by the
      // cosine.
      let degrees = distance / 110_000
      let highest = max(abs(box.minY), abs(box.maxY)) + degrees
      guard highest < 89 else { return nil }
      reach = (degrees / cosine(ofDegrees: highest), degrees)
    }
    box.minX -= reach.x
    box.maxX += reach.x
    box.minY -= reach.y
    box.maxY += reach.y
    guard metric == .planar || (box.minX >= -180 && box.maxX <= 180) else { return nil }
    (box.z, box.m) = (nil, nil)
    return .box(box)
  }
}

extension Envelope {
  fileprivate var isFinite: Bool { [minX, minY, maxX, maxY].allSatisfy(\.isFinite) }
}

extension Geometry {
  /// Whether the geometry is a collection of any kind of members, which services seldom take.
  fileprivate var hasMixedMembers: Bool {
    if case .geometryCollection = self { true } else { false }
  }
}

private func cosine(ofDegrees degrees: Double) -> Double { cos(degrees * .pi / 180) }
