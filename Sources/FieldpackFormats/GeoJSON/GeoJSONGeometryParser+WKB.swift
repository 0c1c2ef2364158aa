import FieldpackCore
import FieldpackGeometry

extension GeoJSONGeometryParser {
  // MARK: WKB

  /// The WKB read last, as the only member of a Multi type where `isPromoted`.
  mutating func bytes(promoted isPromoted: Bool) -> UnsafeBufferPointer<UInt8> {
    let all = wkb.bytes
    guard isPromoted, let multi = type?.multi else {
      return UnsafeBufferPointer(rebasing: all[Self.headerLength...])
    }
    wkb.store(Self.byteOrder, at: 0)
    wkb.store(multi.rawValue + (hasZ ? 1000 : 0), at: 1)
    wkb.store(UInt32(1), at: 5)
    return all
  }

  static var byteOrder: UInt8 { UInt32(1).littleEndian == 1 ? 1 : 0 }

  mutating func appendHeader(_ type: GeometryType, hasZ: Bool) {
    wkb.append(Self.byteOrder)
    wkb.append(raw: type.rawValue + (hasZ ? 1000 : 0))
  }

  /// Appends the coordinates as a geometry of `type`; says what is wrong where they are not one.
  mutating func append(_ type: GeometryType) -> String? {
    let depth = Self.positionDepth(of: type)
    if coordinates.positionDepth != 0, coordinates.positionDepth != depth {
      return "the coordinates are not nested as those of a \(type.geoJSONName) are"
        + " (RFC 7946 section 3.1)"
    }
    if coordinates.deepest > depth {
      return "the coordinates are nested deeper than those of a \(type.geoJSONName)"
        + " (RFC 7946 section 3.1)"
    }
    let arrays = coordinates.arrayCounts
    let innermost = [0, coordinates.positionCount, arrays.second, arrays.third, arrays.fourth][
      depth]
    if innermost != coordinates.positionCount {
      return "a position has no numbers (RFC 7946 section 3.1.1)"
    }
    if leavesOutShortParts { shortParts += coordinates.leaveOutShortParts(of: type) }
    notice()
    return switch type {
    case .point: appendPoint()
    case .multiPoint: appendMultiPoint()
    case .lineString: appendLine(0, coordinates.positionCount, isEmptyAllowed: true)
    case .multiLineString: appendMultiLineString()
    case .polygon: appendPolygon(0, coordinates.secondEnds.count, coordinates.secondEnds)
    default: appendMultiPolygon()
    }
  }

  static func positionDepth(of type: GeometryType) -> Int {
    switch type {
    case .point: 1
    case .lineString, .multiPoint: 2
    case .polygon, .multiLineString: 3
    default: 4
    }
  }

  private mutating func notice() {
    if coordinates.hasExtraOrdinates { hasExtraOrdinates = true }
    if coordinates.isMixed { hasMixedDimensions = true }
    if coordinates.stride == 3 { hasZ = true } else { sawFlat = true }
    let stride = coordinates.stride
    var box = envelope
    for index in 0..<coordinates.positionCount {
      box.extend(
        x: coordinates.ordinates[index * stride], y: coordinates.ordinates[index * stride + 1])
    }
    if stride == 3 { extendZ(&box) }
    envelope = box
  }

  private func extendZ(_ box: inout Envelope) {
    var low = box.z?.lowerBound ?? .infinity
    var high = box.z?.upperBound ?? -.infinity
    for index in 0..<coordinates.positionCount {
      let z = coordinates.ordinates[index * 3 + 2]
      low = min(low, z)
      high = max(high, z)
    }
    if low <= high { box.z = low...high }
  }

  private var isThreeDimensional: Bool { coordinates.stride == 3 }

  private mutating func appendPositions(_ from: Int, _ to: Int) {
    let stride = coordinates.stride
    let ordinates = UnsafeRawPointer(coordinates.ordinates + from * stride)
    wkb.append(
      UnsafeBufferPointer(
        start: ordinates.assumingMemoryBound(to: UInt8.self), count: (to - from) * stride * 8))
  }

  private mutating func appendPoint() -> String? {
    appendHeader(.point, hasZ: isThreeDimensional)
    if coordinates.positionCount == 0 {
      // POINT EMPTY has no form of its own in WKB: clause 2.1.3 of GeoPackage asks for NaN.
      for _ in 0..<2 { wkb.append(raw: Double.nan) }
    } else {
      appendPositions(0, 1)
    }
    return nil
  }

  private mutating func appendMultiPoint() -> String? {
    appendHeader(.multiPoint, hasZ: isThreeDimensional)
    wkb.append(raw: UInt32(coordinates.positionCount))
    for index in 0..<coordinates.positionCount {
      appendHeader(.point, hasZ: isThreeDimensional)
      appendPositions(index, index + 1)
    }
    return nil
  }

  private mutating func appendLine(_ from: Int, _ to: Int, isEmptyAllowed: Bool) -> String? {
    guard to - from >= 2 || (to == from && isEmptyAllowed) else {
      return "a line has fewer than two positions (RFC 7946 section 3.1.4)"
    }
    appendHeader(.lineString, hasZ: isThreeDimensional)
    wkb.append(raw: UInt32(to - from))
    appendPositions(from, to)
    return nil
  }

  /// Lines and polygons without positions are left out of Multi types: they add nothing to them.
  private mutating func appendMultiLineString() -> String? {
    appendHeader(.multiLineString, hasZ: isThreeDimensional)
    let countOffset = wkb.count
    wkb.append(raw: UInt32(0))
    var count: UInt32 = 0
    var from = 0
    for to in coordinates.secondEnds {
      defer { from = to }
      if to == from { continue }
      if let message = appendLine(from, to, isEmptyAllowed: false) { return message }
      count += 1
    }
    wkb.store(count, at: countOffset)
    return nil
  }

  private mutating func appendMultiPolygon() -> String? {
    appendHeader(.multiPolygon, hasZ: isThreeDimensional)
    let countOffset = wkb.count
    wkb.append(raw: UInt32(0))
    var count: UInt32 = 0
    var from = 0
    for to in coordinates.secondEnds {
      defer { from = to }
      let ends = coordinates.thirdEnds
      if to == from || ends[to - 1] == (from == 0 ? 0 : ends[from - 1]) { continue }
      if let message = appendPolygon(from, to, ends) { return message }
      count += 1
    }
    wkb.store(count, at: countOffset)
    return nil
  }

  /// Appends the rings numbered from `first` until `last`; `ends` says where each ends.
  private mutating func appendPolygon(_ first: Int, _ last: Int, _ ends: [Int]) -> String? {
    appendHeader(.polygon, hasZ: isThreeDimensional)
    var from = first == 0 ? 0 : ends[first - 1]
    let isEmpty = last == first || ends[last - 1] == from
    wkb.append(raw: UInt32(isEmpty ? 0 : last - first))
    if isEmpty { return nil }
    for ring in first..<last {
      if let message = appendRing(from, ends[ring]) { return message }
      from = ends[ring]
    }
    return nil
  }

  /// A ring that is left open is closed with its first position.
  private mutating func appendRing(_ from: Int, _ to: Int) -> String? {
    let isClosed = to > from && isSamePosition(from, to - 1)
    let count = to - from + (isClosed ? 0 : 1)
    guard count >= 4 else {
      return "a ring has fewer than four positions (RFC 7946 section 3.1.6)"
    }
    wkb.append(raw: UInt32(count))
    appendPositions(from, to)
    if !isClosed {
      appendPositions(from, from + 1)
      closedRings += 1
    }
    return nil
  }

  private func isSamePosition(_ a: Int, _ b: Int) -> Bool {
    let stride = coordinates.stride
    let ordinates = coordinates.ordinates
    return ordinates[a * stride] == ordinates[b * stride]
      && ordinates[a * stride + 1] == ordinates[b * stride + 1]
  }

  // MARK: Collections with Z

  /// Writes the collection again with a z everywhere, since the members of one share dimensions.
  mutating func giveAllMembersZ() {
    rewritten.removeAll()
    for _ in 0..<Self.headerLength { rewritten.append(0) }
    _ = rewrite(at: Self.headerLength)
    swap(&wkb, &rewritten)
  }

  private func load<T: BitwiseCopyable>(_ offset: Int, as type: T.Type) -> T {
    UnsafeRawPointer(wkb.base + offset).loadUnaligned(as: type)
  }

  private mutating func rewrite(at start: Int) -> Int {
    let code = load(start + 1, as: UInt32.self)
    let type = code % 1000
    rewritten.append(Self.byteOrder)
    rewritten.append(raw: type + 1000)
    var offset = start + 5
    if type == GeometryType.point.rawValue {
      return rewritePositions(1, at: offset, hasZ: code >= 1000)
    }
    let count = load(offset, as: UInt32.self)
    rewritten.append(raw: count)
    offset += 4
    if type == GeometryType.lineString.rawValue {
      return rewritePositions(Int(count), at: offset, hasZ: code >= 1000)
    }
    for _ in 0..<count {
      if type == GeometryType.polygon.rawValue {
        let positions = load(offset, as: UInt32.self)
        rewritten.append(raw: positions)
        offset = rewritePositions(Int(positions), at: offset + 4, hasZ: code >= 1000)
      } else {
        offset = rewrite(at: offset)
      }
    }
    return offset
  }

  private mutating func rewritePositions(_ count: Int, at start: Int, hasZ: Bool) -> Int {
    var offset = start
    for _ in 0..<count {
      let x = load(offset, as: Double.self)
      rewritten.append(raw: x)
      rewritten.append(raw: load(offset + 8, as: Double.self))
      let z = hasZ ? load(offset + 16, as: Double.self) : x.isNaN ? .nan : 0
      rewritten.append(raw: z)
      offset += hasZ ? 24 : 16
    }
    return offset
  }
}

extension GeometryType {
  /// The name in GeoJSON.
  var geoJSONName: String {
    switch self {
    case .point: "Point"
    case .lineString: "LineString"
    case .polygon: "Polygon"
    case .multiPoint: "MultiPoint"
    case .multiLineString: "MultiLineString"
    case .multiPolygon: "MultiPolygon"
    default: "GeometryCollection"
    }
  }
}
