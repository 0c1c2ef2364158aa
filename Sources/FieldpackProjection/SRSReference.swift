import CPROJ
public import FieldpackGeometry

/// A side of a transformation: an authority's code, or a file's own WKT definition.
///
/// PROJ strings and PROJJSON are refused, because they can make PROJ open files of this machine.
public struct SRSReference: Hashable, Sendable, CustomStringConvertible {
  enum Storage: Hashable, Sendable {
    case code(SRS)
    case wkt(String)
  }

  let storage: Storage

  public init(_ srs: SRS) {
    storage = .code(srs)
  }

  /// A definition in WKT 1 or WKT 2, as `gpkg_spatial_ref_sys.definition` holds it for an
  /// organization that PROJ does not know.
  ///
  /// The text must have at most 65,536 bytes, start with the keyword of a reference system, and
  /// name no grid, file or PROJ pipeline. It is only scanned here; a transformation parses it.
  /// - Throws: ``ProjectionError/Kind/invalidDefinition``.
  public init(wkt: String) throws(ProjectionError) {
    try WKTGuard.check(wkt)
    storage = .wkt(wkt)
  }

  /// The code; `nil` where the reference is a definition.
  public var srs: SRS? {
    if case .code(let srs) = storage { srs } else { nil }
  }

  /// `AUTHORITY:CODE`, or the text of the definition.
  package var text: String {
    switch storage {
    case .code(let srs): srs.description
    case .wkt(let text): text
    }
  }

  public var description: String {
    switch storage {
    case .code(let srs): srs.description
    case .wkt(let text): WKTGuard.name(text) ?? "WKT definition"
    }
  }
}

extension ProjectionContext {
  /// The PROJ object of `reference`; throws where that is no reference system.
  func object(of reference: SRSReference) throws(ProjectionError) -> ProjectionObject {
    switch reference.storage {
    case .code(let srs): return try object(of: srs)
    case .wkt(let text): return try object(wkt: text)
    }
  }

  private func object(wkt: String) throws(ProjectionError) -> ProjectionObject {
    var errors: PROJ_STRING_LIST?
    defer { proj_string_list_destroy(errors) }
    guard let created = proj_create_from_wkt(handle, wkt, nil, nil, &errors) else {
      let reason = errors?.pointee.map { String(cString: $0) } ?? takeMessage() ?? "no reason given"
      throw ProjectionError(
        .invalidDefinition, "PROJ cannot read the WKT definition: \(reason)")
    }
    let object = ProjectionObject(created)
    guard proj_is_crs(object.handle) != 0 else {
      throw ProjectionError(
        .invalidDefinition, "the WKT definition does not define a reference system")
    }
    return object
  }
}

/// Refuses definitions through which PROJ would open files.
enum WKTGuard {
  static let maximumLength = 65_536

  private static let keywords = [
    "GEOGCS", "PROJCS", "GEOCCS", "COMPD_CS", "LOCAL_CS", "GEODCRS", "GEODETICCRS", "GEOGCRS",
    "GEOGRAPHICCRS", "PROJCRS", "PROJECTEDCRS", "COMPOUNDCRS", "ENGCRS", "ENGINEERINGCRS",
    "DERIVEDPROJCRS",
  ]

  // PROJ runs an EXTENSION["PROJ4", …] as a PROJ string, and opens grids and parameter files by
  // name.
  private static let refused = [
    "grids=", "init=", "file=", "catalog=", "model=", "proj4_grids", "parameterfile",
    "proj-basedoperationmethod", "custom_proj4",
  ]

  static func check(_ text: String) throws(ProjectionError) {
    guard text.utf8.count <= maximumLength else {
      throw ProjectionError(
        .invalidDefinition, "the WKT definition is longer than \(maximumLength) bytes")
    }
    guard !text.utf8.contains(0) else {
      throw ProjectionError(.invalidDefinition, "the WKT definition holds a NUL byte")
    }
    guard keywords.contains(keyword(of: text)) else {
      throw ProjectionError(
        .invalidDefinition,
        "the definition does not start with a WKT keyword such as GEOGCS or PROJCS. "
          + "Try: AUTHORITY:CODE, such as EPSG:25833")
    }
    // PROJ ignores blanks around '=' in its strings, so they are removed before looking for names.
    let bytes = text.lowercased().filter { !$0.isWhitespace }
      .replacing("nadgrids=@null", with: "")
    if let found = refused.first(where: bytes.contains) {
      throw ProjectionError(
        .invalidDefinition,
        "the WKT definition refers to a file or a PROJ pipeline ('\(found)'), which is refused")
    }
  }

  /// The quoted name that follows the first bracket.
  static func name(_ text: String) -> String? {
    let parts = text.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count == 3 ? String(parts[1]) : nil
  }

  private static func keyword(of text: String) -> String {
    let start = text.drop { $0.isWhitespace }
    let word = start.prefix { $0.isLetter || $0 == "_" }
    let rest = start[word.endIndex...].drop { $0.isWhitespace }
    return rest.first == "[" || rest.first == "(" ? word.uppercased() : ""
  }
}
