import FieldpackCore
import FieldpackGeometry

/// The numbers of a `coordinates` member, whatever the type they will turn out to belong to.
///
/// The arrays are told apart by depth, the outermost being 1. A Point has its position at depth 1,
/// a LineString at 2, a Polygon at 3 and a MultiPolygon at 4.
struct CoordinateArrays: ~Copyable {
  /// 2 or 3 ordinates a position.
  private(set) var stride = 2
  private(set) var positionCount = 0
  /// Where the positions are; 0 where there are none.
  private(set) var positionDepth = 0
  /// The deepest array.
  private(set) var deepest = 0
  /// Arrays closed at depths 2 to 4, those of positions included.
  private(set) var arrayCounts: (second: Int, third: Int, fourth: Int) = (0, 0, 0)
  /// For each array closed at depth 2 that is no position, how many arrays of depth 3 there were.
  private(set) var secondEnds: [Int] = []
  /// The same for depths 3 and 4.
  private(set) var thirdEnds: [Int] = []
  /// Positions with more than three numbers; the rest is dropped (RFC 7946 section 3.1.1).
  private(set) var hasExtraOrdinates = false
  /// Some positions have a z and some have none; 0 stands where it is missing.
  private(set) var isMixed = false
  private(set) var problem: FeatureProblem?
  private(set) var ordinates: UnsafeMutablePointer<Double> = .allocate(capacity: 64)
  private var capacity = 64
  private var count = 0

  static let deepestPosition = 4
  /// SQLite holds no blob of more than a billion bytes.
  static let maximumOrdinates = 120_000_000

  init() {}

  deinit { ordinates.deallocate() }

  private mutating func reset() {
    (stride, positionCount, positionDepth, deepest, count) = (2, 0, 0, 0, 0)
    arrayCounts = (0, 0, 0)
    secondEnds.removeAll(keepingCapacity: true)
    thirdEnds.removeAll(keepingCapacity: true)
    (hasExtraOrdinates, isMixed, problem) = (false, false, nil)
  }

  /// Takes the value at the cursor.
  mutating func parse(_ scanner: inout JSONScanner) throws(FieldpackError) {
    reset()
    guard try scanner.peek() == UInt8(ascii: "[") else {
      return try refuse("coordinates are not an array (RFC 7946 section 3.1)", &scanner)
    }
    try array(1, &scanner)
  }

  /// Keeps the first problem and passes over the value that has it.
  private mutating func refuse(
    _ message: String, _ scanner: inout JSONScanner
  ) throws(FieldpackError) {
    complain(message, at: scanner.offset)
    try scanner.skipValue()
  }

  private mutating func complain(_ message: String, at offset: Int) {
    if problem == nil { problem = FeatureProblem(message: message, offset: offset) }
  }

  private mutating func array(
    _ depth: Int, _ scanner: inout JSONScanner
  ) throws(FieldpackError) {
    guard depth <= Self.deepestPosition else {
      return try refuse("coordinates are nested too deeply (RFC 7946 section 3.1)", &scanner)
    }
    try scanner.enter()
    if depth > deepest { deepest = depth }
    let first = try scanner.peek()
    if first == UInt8(ascii: "[") {
      var isFirst = true
      while try scanner.nextElement(&isFirst) {
        if try scanner.peek() == UInt8(ascii: "[") {
          try array(depth + 1, &scanner)
        } else {
          try refuse("a position or array expected among the coordinates", &scanner)
        }
      }
      closed(depth)
    } else if first == UInt8(ascii: "]") {
      var isFirst = true
      _ = try scanner.nextElement(&isFirst)
      closed(depth)
    } else {
      try position(depth, &scanner)
    }
  }

  private mutating func closed(_ depth: Int) {
    switch depth {
    case 2:
      arrayCounts.second += 1
      secondEnds.append(arrayCounts.third)
    case 3:
      arrayCounts.third += 1
      thirdEnds.append(arrayCounts.fourth)
    case 4: arrayCounts.fourth += 1
    default: break
    }
  }

  @inline(__always)
  private mutating func position(
    _ depth: Int, _ scanner: inout JSONScanner
  ) throws(FieldpackError) {
    let start = scanner.offset
    var x = 0.0
    var y = 0.0
    var z = 0.0
    var found = 0
    var isFirst = true
    while try scanner.nextElement(&isFirst) {
      let byte = try scanner.peek()
      guard byte == UInt8(ascii: "-") || byte &- UInt8(ascii: "0") <= 9 else {
        try refuse("a coordinate is not a number (RFC 7946 section 3.1.1)", &scanner)
        continue
      }
      let value = try scanner.scanReal()
      if !value.isFinite {
        complain("a coordinate is beyond the range of numbers", at: scanner.tokenOffset)
      }
      switch found {
      case 0: x = value
      case 1: y = value
      case 2: z = value
      default: hasExtraOrdinates = true
      }
      found += 1
    }
    guard found >= 2 else {
      return complain("a position has fewer than two numbers (RFC 7946 section 3.1.1)", at: start)
    }
    add(x, y, found > 2 ? z : nil, depth, at: start)
  }

  @inline(__always)
  private mutating func add(_ x: Double, _ y: Double, _ z: Double?, _ depth: Int, at offset: Int) {
    if positionDepth != depth {
      if positionDepth != 0 {
        return complain("positions are nested at different depths", at: offset)
      }
      positionDepth = depth
    }
    switch depth {
    case 2: arrayCounts.second += 1
    case 3: arrayCounts.third += 1
    case 4: arrayCounts.fourth += 1
    default: break
    }
    if z != nil, stride == 2 { addThirdOrdinate() }
    if z == nil, stride == 3 { isMixed = true }
    if count + 3 > capacity {
      guard count < Self.maximumOrdinates else {
        return complain("a geometry has more than a billion bytes", at: offset)
      }
      grow()
    }
    ordinates[count] = x
    ordinates[count + 1] = y
    if stride == 3 { ordinates[count + 2] = z ?? 0 }
    count += stride
    positionCount += 1
  }

  /// Gives the positions so far a z of 0, as GDAL does.
  @inline(never)
  private mutating func addThirdOrdinate() {
    stride = 3
    guard positionCount > 0 else { return }
    isMixed = true
    while capacity < positionCount * 3 + 3 { grow() }
    for index in Swift.stride(from: positionCount - 1, through: 0, by: -1) {
      let (x, y) = (ordinates[index * 2], ordinates[index * 2 + 1])
      ordinates[index * 3] = x
      ordinates[index * 3 + 1] = y
      ordinates[index * 3 + 2] = 0
    }
    count = positionCount * 3
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<Double>.allocate(capacity: capacity * 2)
    larger.update(from: ordinates, count: count)
    ordinates.deallocate()
    ordinates = larger
    capacity *= 2
  }

  // MARK: Parts with too few positions

  /// Leaves out lines of one position, inner rings that enclose nothing, and polygons whose outer
  /// ring does, of types that have several; says how many. One part with positions is kept.
  mutating func leaveOutShortParts(of type: GeometryType) -> Int {
    switch type {
    case .multiLineString where hasShort(secondEnds, below: 2): leaveOut(shortLines())
    case .polygon where hasShort(secondEnds, below: 4):
      leaveOut(shortRings(secondEnds, polygons: [secondEnds.count]))
    case .multiPolygon where hasShort(thirdEnds, below: 4):
      leaveOut(shortRings(thirdEnds, polygons: secondEnds), isMultiPolygon: true)
    default: 0
    }
  }

  private func hasShort(_ ends: [Int], below minimum: Int) -> Bool {
    var from = 0
    for to in ends {
      if to - from < minimum { return true }
      from = to
    }
    return false
  }

  /// The innermost arrays that are left out, and how many parts they are.
  private typealias Short = (arrays: [Bool], parts: Int)

  private func shortLines() -> Short {
    var from = 0
    let arrays = secondEnds.map { to in
      defer { from = to }
      return to - from == 1
    }
    return (arrays, arrays.count { $0 })
  }

  /// - Parameter polygons: for each polygon, where its rings end among all.
  private func shortRings(_ ends: [Int], polygons: [Int]) -> Short {
    var short: Short = (Array(repeating: false, count: ends.count), 0)
    var first = 0
    for last in polygons {
      defer { first = last }
      guard last > first, ends[last - 1] > (first == 0 ? 0 : ends[first - 1]) else { continue }
      if isShort(ring: first, ends) {
        for ring in first..<last { short.arrays[ring] = true }
        short.parts += 1
        continue
      }
      for ring in first + 1..<last where isShort(ring: ring, ends) {
        short.arrays[ring] = true
        short.parts += 1
      }
    }
    return short
  }

  /// Whether a ring has fewer than four positions when it is closed.
  private func isShort(ring: Int, _ ends: [Int]) -> Bool {
    let from = ring == 0 ? 0 : ends[ring - 1]
    let count = ends[ring] - from
    guard count == 3 else { return count < 3 }
    let (a, b) = (ordinates + from * stride, ordinates + (from + 2) * stride)
    return a[0] == b[0] && a[1] == b[1]
  }

  /// Closes the gaps of arrays of positions that go.
  @inline(never)
  private mutating func leaveOut(_ short: Short, isMultiPolygon: Bool = false) -> Int {
    let ends = isMultiPolygon ? thirdEnds : secondEnds
    var kept: [Int] = []
    /// How many arrays are kept before each.
    var keptBefore = [0]
    var (from, position) = (0, 0)
    for (index, to) in ends.enumerated() {
      if !short.arrays[index] {
        position += to - from
        kept.append(position)
      }
      keptBefore.append(kept.count)
      from = to
    }
    guard short.parts > 0, position > 0 else { return 0 }
    (from, position) = (0, 0)
    for (index, to) in ends.enumerated() {
      if !short.arrays[index] {
        let length = (to - from) * stride
        (ordinates + position * stride).update(from: ordinates + from * stride, count: length)
        position += to - from
      }
      from = to
    }
    (positionCount, count) = (position, position * stride)
    if isMultiPolygon {
      thirdEnds = kept
      secondEnds = secondEnds.map { keptBefore[$0] }
    } else {
      secondEnds = kept
    }
    return short.parts
  }
}
