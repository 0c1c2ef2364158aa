import FieldpackGeometry

/// Writes geometries, which it is shown as WKB, as tables of a FlatBuffer.
///
/// Collections are tables with parts; all other geometries are one table with the positions of all rings,
/// lines or points. Empty geometries and members are left out.
struct FlatGeobufGeometryWriter: WKBRunVisitor {
  /// The features, to which each geometry is appended.
  var bytes: [UInt8] = []
  /// Where the feature begins. Alignment counts from there.
  private var start = 0
  private let dimensions: Dimensions

  /// A collection that is open.
  private struct Frame {
    /// Where it begins, to be taken back where it stays empty.
    var start: Int
    var table: Int
    /// Where the number of its parts stands.
    var count: Int
    var parts = 0
  }

  private var frames: [Frame] = []
  /// The geometry whose positions are gathered, and how many of its members are open.
  private var gathered: GeometryType?
  private var openMembers = 0
  private var xy: [UInt8] = []
  private var z: [UInt8] = []
  private var m: [UInt8] = []
  private var ends: [UInt32] = []
  private var count = 0
  /// The table of the whole geometry, where it is not empty.
  private(set) var table: Int?
  private(set) var type: GeometryType?
  private(set) var minX = Double.infinity
  private(set) var minY = Double.infinity
  private(set) var maxX = -Double.infinity
  private(set) var maxY = -Double.infinity
  /// Whether positions lack an ordinate that the file has, or have one that it has not.
  private(set) var fillsOrdinates = false
  private(set) var dropsOrdinates = false

  init(_ dimensions: Dimensions) { self.dimensions = dimensions }

  /// Begins the geometry of a feature.
  mutating func begin(feature start: Int) {
    self.start = start
    frames.removeAll(keepingCapacity: true)
    gathered = nil
    openMembers = 0
    table = nil
    type = nil
    (minX, minY) = (.infinity, .infinity)
    (maxX, maxY) = (-.infinity, -.infinity)
  }

  // MARK: WKBRunVisitor

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    if self.type == nil { self.type = type }
    if dimensions != self.dimensions { compare(dimensions) }
    guard gathered == nil else {
      openMembers += 1
      return
    }
    switch type {
    case .point, .lineString, .circularString, .polygon, .triangle, .multiPoint, .multiLineString:
      gathered = type
      self.count = 0
      xy.removeAll(keepingCapacity: true)
      z.removeAll(keepingCapacity: true)
      m.removeAll(keepingCapacity: true)
      ends.removeAll(keepingCapacity: true)
    default: open(type, count ?? 0)
    }
  }

  private mutating func compare(_ dimensions: Dimensions) {
    if self.dimensions.hasZ && !dimensions.hasZ || self.dimensions.hasM && !dimensions.hasM {
      fillsOrdinates = true
    }
    if !self.dimensions.hasZ && dimensions.hasZ || !self.dimensions.hasM && dimensions.hasM {
      dropsOrdinates = true
    }
  }

  mutating func positions(
    _ run: RawSpan, _ count: Int, _ header: WKB.Header, at offset: Int, isRing: Bool
  ) {
    guard count > 0 else { return }
    self.count += count
    run.withUnsafeBytes { run in
      let stride = 8 * header.dimensions.count
      if header.byteOrder == .little, header.dimensions == .xy { xy.append(contentsOf: run) }
      for place in Swift.stride(from: 0, to: count * stride, by: stride) {
        let x = Self.ordinate(run, place, header.byteOrder)
        let y = Self.ordinate(run, place + 8, header.byteOrder)
        if header.byteOrder != .little || header.dimensions != .xy {
          Self.append(x, to: &xy)
          Self.append(y, to: &xy)
        }
        // Positions without a place on the plane are not within its boxes.
        if x.isFinite, y.isFinite {
          (minX, minY) = (min(minX, x), min(minY, y))
          (maxX, maxY) = (max(maxX, x), max(maxY, y))
        }
        if dimensions.hasZ {
          let hasZ = header.dimensions.hasZ
          Self.append(hasZ ? Self.ordinate(run, place + 16, header.byteOrder) : 0, to: &z)
        }
        if dimensions.hasM {
          let hasM = header.dimensions.hasM
          Self.append(hasM ? Self.ordinate(run, place + stride - 8, header.byteOrder) : 0, to: &m)
        }
      }
    }
    if gathered != .point, gathered != .multiPoint { ends.append(UInt32(self.count)) }
  }

  mutating func end(_ type: GeometryType) {
    if openMembers > 0 {
      openMembers -= 1
    } else if let leaf = gathered {
      gathered = nil
      if count > 0 { finish(writeLeaf(leaf)) }
    } else if let frame = frames.popLast() {
      guard frame.parts > 0 else {
        bytes.removeLast(bytes.count - frame.start)
        return
      }
      set(UInt32(frame.parts), at: frame.count)
      finish(frame.table)
    }
  }

  /// Lets the collection around a geometry lead to its table.
  private mutating func finish(_ table: Int) {
    guard let last = frames.indices.last else {
      self.table = table
      return
    }
    frames[last].parts += 1
    let place = frames[last].count + 4 * frames[last].parts
    set(UInt32(table - place), at: place)
  }

  // MARK: Tables

  /// Begins a collection with room for so many parts.
  private mutating func open(_ type: GeometryType, _ count: Int) {
    let start = bytes.count
    let (table, places) = writeTable(type, fields: [7])
    set(UInt32(bytes.count - places), at: places)
    frames.append(Frame(start: start, table: table, count: bytes.count))
    append(UInt32(0))
    bytes.append(contentsOf: repeatElement(0, count: 4 * count))
  }

  private mutating func writeLeaf(_ type: GeometryType) -> Int {
    var fields = [1]
    if ends.count > 1 { fields.append(0) }
    if dimensions.hasZ { fields.append(2) }
    if dimensions.hasM { fields.append(3) }
    let (table, places) = writeTable(type, fields: fields)
    for (index, field) in fields.enumerated() {
      let place = places + 4 * index
      pad(to: field == 0 ? 4 : 8, plus: 4)
      set(UInt32(bytes.count - place), at: place)
      switch field {
      case 0:
        append(UInt32(ends.count))
        for end in ends { append(end) }
      case 1:
        append(UInt32(2 * count))
        bytes.append(contentsOf: xy)
      case 2:
        append(UInt32(count))
        bytes.append(contentsOf: z)
      default:
        append(UInt32(count))
        bytes.append(contentsOf: m)
      }
    }
    return table
  }

  /// Writes a table with its type and room for offsets.
  ///
  /// - Returns: where the table lies, and where its first offset lies.
  private mutating func writeTable(
    _ type: GeometryType, fields: [Int]
  ) -> (table: Int, places: Int) {
    pad(to: 4)
    let offsets = bytes.count
    let fieldCount = fields.contains(7) ? 8 : 7
    append(UInt16(4 + 2 * fieldCount))
    append(UInt16(8 + 4 * fields.count))
    for number in 0..<fieldCount {
      let index = fields.firstIndex(of: number)
      append(UInt16(number == 6 ? 4 : index.map { 8 + 4 * $0 } ?? 0))
    }
    pad(to: 4)
    let table = bytes.count
    append(UInt32(table - offsets))
    append(UInt32(type.rawValue))
    bytes.append(contentsOf: repeatElement(0, count: 4 * fields.count))
    return (table, table + 8)
  }

  // MARK: Bytes

  @inline(__always)
  private static func ordinate(
    _ run: UnsafeRawBufferPointer, _ offset: Int, _ order: ByteOrder
  ) -> Double {
    let bits = run.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return Double(
      bitPattern: order == .little ? UInt64(littleEndian: bits) : UInt64(bigEndian: bits))
  }

  @inline(__always)
  private static func append(_ value: Double, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
  }

  @inline(__always)
  mutating func append<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func set(_ value: UInt32, at place: Int) {
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: value.littleEndian, toByteOffset: place, as: UInt32.self)
    }
  }

  mutating func pad(to alignment: Int, plus more: Int = 0) {
    while (bytes.count - start + more) % alignment != 0 { bytes.append(0) }
  }
}
