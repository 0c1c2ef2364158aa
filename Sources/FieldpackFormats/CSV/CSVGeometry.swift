import FieldpackCore
import FieldpackGeometry

/// Reads the geometry of CSV rows into WKB and gathers what the layer's geometry column has to be.
struct CSVGeometry {
  private let role: CSVHeader.GeometryRole
  private let givenSRS: SRS?
  private var srid: Int32?
  /// The type that holds all geometries seen.
  private var seenType: GeometryType?
  private var dimensions = DimensionsSeen()
  private var writer = WKBWriter()
  private var form: CSVFieldForm

  /// The row's geometry, empty without one.
  var wkb: [UInt8] { writer.bytes }
  var envelope: Envelope? { writer.envelope.isEmpty ? nil : writer.envelope }
  private(set) var type = GeometryType.geometry
  private(set) var rowDimensions = Dimensions.xy

  init(_ header: CSVHeader, form: CSVFieldForm, sourceSRS: SRS?) {
    role = header.geometry
    self.form = form
    givenSRS = sourceSRS ?? (header.isGeographic ? .wgs84 : nil)
    writer.writesTypesOfGeoPackage = true
  }

  /// Whether the file leaves open what its coordinates are.
  var lacksSRS: Bool { givenSRS == nil && srid == nil && seenType != nil }

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
    if let seenType { return seenType }
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
    seenType = seenType.map { GeometryType.holding($0, type) } ?? type
    dimensions.insert(rowDimensions)
  }

  private mutating func readWKT(
    _ scanner: CSVScanner, _ field: Int
  ) throws(FieldpackError) {
    let range = scanner.trimmedRange(field)
    guard !range.isEmpty else { return }
    // WKT begins with a letter, and each WKB with the byte order, 00 or 01.
    let isBinary = scanner.text[range.lowerBound] == UInt8(ascii: "0")
    let name = isBinary ? "WKB" : "WKT"
    do {
      let found =
        isBinary
        ? try readWKB(scanner.text[range])
        : try WKT.visit(scanner.text.span.bytes.extracting(range), with: &writer)
      let header = try WKB.header(of: writer.bytes.span.bytes)
      (type, rowDimensions) = (header.type, header.dimensions)
      try note(srid: found)
    } catch let error as GeometryError {
      throw FieldpackError(.invalidData, "the \(name) is broken: \(error)", underlying: error)
    } catch let error as FieldpackError {
      throw error
    } catch {
      throw FieldpackError(.invalidData, "the \(name) is broken: \(error)", underlying: error)
    }
  }

  /// Reads hexadecimal digits, as PostGIS writes geometries.
  private mutating func readWKB(_ digits: ArraySlice<UInt8>) throws -> Int32? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var next = digits.startIndex
    while next < digits.endIndex {
      guard next + 1 < digits.endIndex, let high = Self.hexadecimal(digits[next]),
        let low = Self.hexadecimal(digits[next + 1])
      else { throw FieldpackError(.invalidData, "the geometry is neither WKT nor WKB") }
      bytes.append(high << 4 | low)
      next += 2
    }
    try WKB.visit(bytes.span.bytes, with: &writer)
    return try WKB.srid(of: bytes.span.bytes)
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
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
    let longitude = try number(scanner, xRange)
    let latitude = try number(scanner, yRange)
    (type, rowDimensions) = (.point, .xy)
    writer.begin(.point, .xy)
    writer.position(longitude, latitude, .nan, .nan)
    writer.end(.point)
  }

  private mutating func number(
    _ scanner: CSVScanner, _ range: Range<Int>
  ) throws(FieldpackError) -> Double {
    let value = scanner.text.withUnsafeBufferPointer {
      form.number(UnsafeBufferPointer(rebasing: $0[range]))
    }
    guard let value else {
      let shown = String(decoding: scanner.text[range].prefix(40), as: UTF8.self)
      throw FieldpackError(
        .invalidData, "the coordinate '\(shown)' is not a number", advice: advice(for: shown))
    }
    return value
  }

  /// The other sign before the decimals, where the text would then be a number.
  private func advice(for text: String) -> FieldpackError.Advice? {
    let sign: Character = form.hasDecimalComma ? "." : ","
    guard text.count(where: { $0 == sign }) == 1, !text.contains(form.hasDecimalComma ? "," : "."),
      Double(text.replacing(",", with: ".")) != nil
    else { return nil }
    return .nameDecimalSign(String(sign))
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
