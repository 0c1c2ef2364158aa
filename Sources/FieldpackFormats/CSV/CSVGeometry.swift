import FieldpackCore
import FieldpackGeometry

/// Reads the geometry of CSV rows into WKB and gathers what the layer's geometry column has to be.
struct CSVGeometry {
  private let role: CSVHeader.GeometryRole
  private let givenSRS: SRS?
  private var srid: Int32?
  /// A bit for each type seen.
  private var types: UInt32 = 0
  private var dimensions = DimensionsSeen()
  private var writer = WKBWriter()

  /// The row's geometry, empty without one.
  var wkb: [UInt8] { writer.bytes }
  var envelope: Envelope? { writer.envelope.isEmpty ? nil : writer.envelope }
  private(set) var type = GeometryType.geometry
  private(set) var rowDimensions = Dimensions.xy

  init(_ header: CSVHeader, sourceSRS: SRS?) {
    role = header.geometry
    givenSRS = sourceSRS ?? (header.isGeographic ? .wgs84 : nil)
    writer.writesTypesOfGeoPackage = true
  }

  /// Whether the file leaves open what its coordinates are.
  var lacksSRS: Bool { givenSRS == nil && srid == nil && types != 0 }

  /// What was read as another type, whose rings are the same.
  var note: String? {
    let replaced = GeometryType.allCases.filter(writer.replacedTypes.contains)
    guard !replaced.isEmpty else { return nil }
    let names = replaced.map { "\($0.name) as \($0.ofGeoPackage.name)" }
    return "read \(names.joined(separator: ", ")): GeoPackage has no such type"
  }

  /// The column as the rows so far ask for it.
  var column: GeometryColumn? {
    guard role != .none else { return nil }
    let srs = givenSRS ?? srid.map { SRS("EPSG", $0) } ?? .undefinedCartesian
    return GeometryColumn(type: columnType, srs: srs, z: dimensions.z, m: dimensions.m)
  }

  private var columnType: GeometryType {
    let seen = GeometryType.allCases.filter { types & 1 << $0.rawValue != 0 }
    if seen.count == 1 { return seen[0] }
    if seen.count == 2, seen[0].multi == seen[1] { return seen[1] }
    if case .xy = role { return .point }
    return .geometry
  }

  /// Reads the row's geometry into ``wkb``.
  mutating func read(_ scanner: CSVScanner) throws(FieldpackError) {
    writer.reset()
    switch role {
    case .none: return
    case .wkt(let field): try readWKT(scanner, field)
    case .xy(let x, let y): try readXY(scanner, x, y)
    }
    guard !writer.bytes.isEmpty else { return }
    types |= 1 << type.rawValue
    dimensions.insert(rowDimensions)
  }

  private mutating func readWKT(
    _ scanner: CSVScanner, _ field: Int
  ) throws(FieldpackError) {
    let range = scanner.trimmedRange(field)
    guard !range.isEmpty else { return }
    do {
      let found = try WKT.visit(scanner.text.span.bytes.extracting(range), with: &writer)
      let header = try WKB.header(of: writer.bytes.span.bytes)
      (type, rowDimensions) = (header.type, header.dimensions)
      try note(srid: found)
    } catch let error as GeometryError {
      throw FieldpackError(.invalidData, "the WKT is broken: \(error)", underlying: error)
    } catch let error as FieldpackError {
      throw error
    } catch {
      throw FieldpackError(.invalidData, "the WKT is broken: \(error)", underlying: error)
    }
  }

  private mutating func note(srid found: Int32?) throws(FieldpackError) {
    guard let found, givenSRS == nil else { return }
    guard srid == nil || srid == found else {
      throw FieldpackError(
        .invalidData, "SRID \(found) differs from \(srid ?? 0) of the rows before")
    }
    srid = found
  }

  private mutating func readXY(
    _ scanner: CSVScanner, _ x: Int, _ y: Int
  ) throws(FieldpackError) {
    let (xRange, yRange) = (scanner.trimmedRange(x), scanner.trimmedRange(y))
    if xRange.isEmpty, yRange.isEmpty { return }
    let longitude = try Self.number(scanner, xRange)
    let latitude = try Self.number(scanner, yRange)
    (type, rowDimensions) = (.point, .xy)
    writer.begin(.point, .xy)
    writer.position(longitude, latitude, .nan, .nan)
    writer.end(.point)
  }

  private static func number(
    _ scanner: CSVScanner, _ range: Range<Int>
  ) throws(FieldpackError) -> Double {
    let value = scanner.text.withUnsafeBufferPointer {
      NumberParser.double(UnsafeBufferPointer(rebasing: $0[range]))
    }
    guard let value else {
      let shown = String(decoding: scanner.text[range].prefix(40), as: UTF8.self)
      throw FieldpackError(.invalidData, "the coordinate '\(shown)' is not a number")
    }
    return value
  }

  /// Appends the row's geometry where a column of `asked` holds it, promoted where asked.
  func append(for asked: GeometryColumn?, to bytes: inout [UInt8]) {
    asked?.append(wkb, type, rowDimensions, isEmpty: envelope == nil, to: &bytes)
  }
}

extension CSVScanner {
  /// The field without blanks and tabs at its ends.
  func trimmedRange(_ field: Int) -> Range<Int> {
    var range = fields[field].range
    while let first = range.first, text[first] == 0x20 || text[first] == 0x09 {
      range = first + 1..<range.upperBound
    }
    while let last = range.last, text[last] == 0x20 || text[last] == 0x09 {
      range = range.lowerBound..<last
    }
    return range
  }
}
