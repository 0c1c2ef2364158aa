import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// What a service says of itself.
struct WFSCapabilities: Sendable {
  /// A set of features that a service has.
  struct FeatureType: Sendable {
    /// The name as requests have it, such as `topp:states`.
    var name: String
    /// The name with its namespace, as the elements of answers have it.
    var element: XMLQName
    var title: String?
    var abstract: String?
    /// The reference system in which the service gives the features by itself.
    var srs: SRSName?
    /// The extent in degrees of longitude and latitude.
    var envelope: Envelope?
    var formats: [String]

    /// The name without the prefix.
    var localName: String { element.local }
  }

  /// Where and how an operation is asked for.
  struct Operation: Sendable {
    var get: String?
    var post: String?
    var formats: [String] = []
  }

  /// The version that the service answers in, and that all requests after the first have.
  var version: WFSVersion
  var types: [FeatureType]
  /// Operations by name.
  var operations: [String: Operation]
  /// Whether `startIndex` is promised.
  var pages: Bool
  /// How many features the service gives where the request names no number.
  var countDefault: Int?
  /// The names of the operators that conditions may have, in lower case and as version 1.1.0 calls
  /// them, such as `equalto`, `null`, `intersects`; and `logical`.
  var operators: Set<String>

  /// - Parameter asked: the version of the request. A service that does not know 2.0.0 answers in
  ///   the highest version that it knows (OGC 06-121r3, clause 7.3.2), which may be 1.1.0.
  /// - Throws: `.unsupported` where the service speaks another version.
  init(_ root: XMLTree, asked: WFSVersion) throws(FieldpackError) {
    guard root.name.local == "WFS_Capabilities" else {
      throw FieldpackError(
        .invalidData, .otherDocument,
        "the answer is no description of a Web Feature Service, but '\(root.name.local)'")
    }
    let given = root["version"] ?? ""
    let versions: [WFSVersion] = asked == .wfs20 ? [.wfs20, .wfs11] : [asked]
    guard let version = versions.first(where: { given.hasPrefix($0.rawValue.prefix(3)) }) else {
      throw FieldpackError(
        .unsupported, .otherDocument,
        "the service answers in version '\(ExceptionReport.shown(given))', and "
          + "\(asked.rawValue) is asked for")
    }
    self.version = version
    let metadata = root.child("OperationsMetadata")
    operations = Self.operations(metadata)
    let formats = operations["GetFeature"]?.formats ?? []
    types = (root.child("FeatureTypeList")?.children("FeatureType") ?? []).compactMap {
      Self.type($0, formats: formats)
    }
    pages = Self.constraint("ImplementsResultPaging", in: metadata)?.uppercased() == "TRUE"
    countDefault = Self.constraint("CountDefault", in: metadata).flatMap { Int($0) }
      .flatMap { $0 > 0 ? $0 : nil }
    operators = Self.operators(root.child("Filter_Capabilities"))
  }

  private static func operators(_ element: XMLTree?) -> Set<String> {
    let spatial = element?.child("Spatial_Capabilities")?.child("SpatialOperators")
    let scalar = element?.child("Scalar_Capabilities")
    let all =
      (spatial?.children ?? []) + (scalar?.child("ComparisonOperators")?.children ?? [])
    var names = Set(
      all.map { element in
        let name = (element["name"] ?? element.text).trimmedOfSpace.lowercased()
        return switch name {
        case "nullcheck": "null"
        case "lessthanequalto": "lessthanorequalto"
        case "greaterthanequalto": "greaterthanorequalto"
        default: name.hasPrefix("propertyis") ? String(name.dropFirst(10)) : name
        }
      })
    if scalar?.child("LogicalOperators") != nil { names.insert("logical") }
    return names
  }

  private static func operations(_ metadata: XMLTree?) -> [String: Operation] {
    var operations: [String: Operation] = [:]
    let shared = metadata.map { values(of: "outputFormat", in: $0) } ?? []
    for element in metadata?.children("Operation") ?? [] {
      guard let name = element["name"] else { continue }
      let http = element.child("DCP")?.child("HTTP")
      let own = values(of: "outputFormat", in: element)
      operations[name] = Operation(
        get: link(http?.child("Get")), post: link(http?.child("Post")),
        formats: own.isEmpty ? shared : own)
    }
    return operations
  }

  private static func link(_ element: XMLTree?) -> String? {
    element?.attributes.first { $0.name.local == "href" && !$0.value.isEmpty }?.value
  }

  /// The values that a parameter may have: directly in it in OWS 1.0, in a list in 1.1.
  private static func values(of parameter: String, in element: XMLTree) -> [String] {
    let found = element.children("Parameter").first {
      $0["name"]?.lowercased() == parameter.lowercased()
    }
    guard let found else { return [] }
    let list = found.child("AllowedValues") ?? found
    return list.children("Value").map(\.text.trimmedOfSpace)
  }

  private static func constraint(_ name: String, in metadata: XMLTree?) -> String? {
    let all =
      (metadata?.children("Constraint") ?? [])
      + (metadata?.children("Operation") ?? []).flatMap { $0.children("Constraint") }
    guard let found = all.first(where: { $0["name"] == name }) else { return nil }
    let value = found.child("DefaultValue") ?? found.child("AllowedValues")?.child("Value")
    return value.map(\.text.trimmedOfSpace)
  }

  private static func type(_ element: XMLTree, formats: [String]) -> FeatureType? {
    guard let nameElement = element.child("Name") else { return nil }
    let name = nameElement.text.trimmedOfSpace
    guard !name.isEmpty else { return nil }
    let local = name.split(separator: ":").last.map(String.init) ?? name
    let system = (element.child("DefaultCRS") ?? element.child("DefaultSRS"))?.text
    let own = element.child("OutputFormats")?.children("Format").map(\.text.trimmedOfSpace) ?? []
    return FeatureType(
      name: name, element: nameElement.qualifiedName(name) ?? XMLQName(local),
      title: text(element.child("Title")), abstract: text(element.child("Abstract")),
      srs: system.flatMap { SRSName($0) }, envelope: envelope(element.child("WGS84BoundingBox")),
      formats: own.isEmpty ? formats : own)
  }

  private static func envelope(_ element: XMLTree?) -> Envelope? {
    guard let low = element?.child("LowerCorner").flatMap({ Numbers.list($0.text) }),
      let high = element?.child("UpperCorner").flatMap({ Numbers.list($0.text) }),
      low.count >= 2, high.count >= 2
    else { return nil }
    let box = Envelope(minX: low[0], minY: low[1], maxX: high[0], maxY: high[1])
    return box.isEmpty ? nil : box
  }

  private static func text(_ element: XMLTree?) -> String? {
    let text = (element?.text ?? "").trimmedOfSpace
    return text.isEmpty ? nil : text
  }
}

extension WFSCapabilities.FeatureType {
  /// The format of GeoJSON that the service offers, as requests name it.
  var jsonFormat: String? {
    func find(_ isFit: (String) -> Bool) -> String? { formats.first { isFit($0.lowercased()) } }
    return find { $0 == "application/json" } ?? find { $0 == "application/geo+json" }
      ?? find { $0.hasPrefix("application/json") } ?? find { $0.hasPrefix("application/geo+json") }
      ?? find { $0 == "geojson" || $0 == "json" }
  }
}
