import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// The functions on geometries in users' SQL: `ST_Area` and its siblings.
///
/// They take and return GeoPackage blobs. NULL among the geometries gives NULL. A value that is no
/// geometry ends the statement with an error, and so does a failure of GEOS or PROJ. Where GEOS
/// does the work, curves are linearised and m is dropped.
///
/// The functions are registered when a connection first runs a user's SQL, so that opening a file
/// does not wait for them.
struct GeometryFunctions {
  let connection: Connection
  let tools: GeometryTools

  static let flags: FunctionFlags = [.deterministic, .innocuous]

  init(of file: GeoPackageSession) {
    connection = file.connection
    tools = GeometryTools(file)
  }

  func register() throws(SQLiteError) {
    try registerReading()
    try registerParts()
    try registerWriting()
    try registerMeasures()
    try registerOperations()
    try registerRelations()
    try registerGeodesics()
    try registerGeodesicBuffer()
    try registerSystems()
    try registerAggregates()
  }

  /// Registers one function for each number of arguments.
  func add(
    _ name: String, _ arguments: ClosedRange<Int>, _ body: @escaping (GeometryCall) throws -> Void
  ) throws(SQLiteError) {
    let tools = tools
    for count in arguments {
      try connection.register(function: name, arguments: count, flags: Self.flags) { context in
        do {
          try body(GeometryCall(context: context, tools: tools))
        } catch {
          context.setError("\(name)(): \(error)")
        }
      }
    }
  }

  func add(
    _ name: String, _ arguments: Int, _ body: @escaping (GeometryCall) throws -> Void
  ) throws(SQLiteError) {
    try add(name, arguments...arguments, body)
  }
}

/// Why a function has no answer, in a message for the user.
struct FunctionMistake: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// One call of a geometry function.
struct GeometryCall {
  let context: FunctionContext
  let tools: GeometryTools

  var count: Int { context.argumentCount }

  /// Lends the header and the WKB of an argument; `nil` where it is NULL.
  func withGeometry<R>(
    _ index: Int, _ body: (GeoPackageBinary, RawSpan) throws -> R
  ) throws -> R? {
    let kind = context.kind(index)
    if kind == .null { return nil }
    try Self.check(kind, at: index)
    return try context.withBytes(index) { blob in
      let header = try Self.header(of: blob, at: index)
      return try body(header, blob.extracting(header.bodyOffset...))
    }
  }

  /// Throws where an argument that is not NULL cannot be a geometry.
  static func check(_ kind: StorageClass, at index: Int) throws {
    switch kind {
    case .blob, .null: break
    case .text:
      throw FunctionMistake(
        "argument \(index + 1) is a text, not a geometry. Try: ST_GeomFromText(…)")
    case .integer, .real:
      throw FunctionMistake("argument \(index + 1) is a number, not a geometry")
    }
  }

  static func header(of blob: RawSpan, at index: Int) throws -> GeoPackageBinary {
    do throws(GeometryError) {
      let header = try GeoPackageBinary(blob)
      guard let code = header.extensionCode else { return header }
      throw GeometryError(
        .extendedBinary, at: 0, "it is in the extended encoding '\(code)', which is not WKB")
    } catch {
      var hint = ""
      if error.kind == .notGeoPackageBinary, blob.byteCount >= 5 {
        switch blob.unsafeLoad(fromByteOffset: 0, as: UInt8.self) {
        // A SpatiaLite blob begins with 0x00 and an endianness, and ends with 0xFE.
        case 0 where blob.unsafeLoad(fromByteOffset: blob.byteCount - 1, as: UInt8.self) == 0xFE:
          hint = ". It is SpatiaLite's. Try: AsGPB(…)"
        case 0, 1: hint = ". Try: ST_GeomFromWKB(…)"
        default: break
        }
      }
      throw FunctionMistake("argument \(index + 1) is no GeoPackage geometry: \(error)\(hint)")
    }
  }

  /// A number; `nil` for NULL.
  func number(_ index: Int) throws -> Double? {
    switch context.kind(index) {
    case .null: return nil
    case .integer, .real: return context.real(index)
    case .text, .blob: throw FunctionMistake("argument \(index + 1) is not a number")
    }
  }

  func integer(_ index: Int, in range: ClosedRange<Int64>) throws -> Int? {
    guard !context.isNull(index) else { return nil }
    guard context.kind(index) == .integer, range.contains(context.integer(index)) else {
      throw FunctionMistake(
        "argument \(index + 1) is not an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(context.integer(index))
  }

  func text(_ index: Int) throws -> String? {
    guard !context.isNull(index) else { return nil }
    guard context.kind(index) == .text else {
      throw FunctionMistake("argument \(index + 1) is not a text")
    }
    return context.string(index)
  }

  /// An `srs_id` argument; `otherwise` where the argument is missing, `nil` for NULL.
  func srsID(_ index: Int, otherwise: Int32 = 0) throws -> Int32? {
    guard index < count else { return otherwise }
    return try integer(index, in: Int64(Int32.min)...Int64(Int32.max)).map(Int32.init)
  }

  func set(_ geometry: Geometry, srsID: Int32) {
    var blob: [UInt8] = []
    GeoPackageBinary.append(geometry, srsID: srsID, to: &blob)
    context.set(blob)
  }

  func set(wkb: RawSpan, srsID: Int32) throws {
    var blob: [UInt8] = []
    try GeoPackageBinary.append(wkb: wkb, srsID: srsID, to: &blob)
    context.set(blob)
  }
}
