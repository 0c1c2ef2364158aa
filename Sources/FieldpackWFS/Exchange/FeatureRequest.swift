import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// A request for features of one layer.
struct FeatureRequest: Sendable {
  var type: WFSCapabilities.FeatureType
  /// The reference system asked for; `nil` for layers without geometry.
  var srs: SRSName?
  /// The format asked for; `nil` is the service's own.
  var format: String?
  var filter: FESFilter?
  /// Features by their ids.
  var ids: [String] = []
  var count: Int?
  var start: Int?
  /// Whether only the number of features is asked for.
  var isHits = false

  /// Longer addresses are not taken by every server.
  private static let maximumAddress = 2_000

  /// The request as an address, or as a document where the address were too long.
  func encoded(for service: WFSOperations, writer: FESWriter) -> WFSRequest {
    let version = service.version
    let isNew = version == .wfs20
    var box: String?
    if let found = filter?.box, let geometries = writer.geometries {
      let low = geometries.text([.init(x: found.minX, y: found.minY)])
      let high = geometries.text([.init(x: found.maxX, y: found.maxY)])
      let corners = "\(low) \(high)".split(separator: " ").joined(separator: ",")
      box = "\(corners),\(geometries.name.text)"
    }
    let url = service.address(of: "GetFeature").url([
      ("service", "WFS"), ("version", version.rawValue), ("request", "GetFeature"),
      (isNew ? "typeNames" : "typeName", type.name),
      ("outputFormat", isHits ? nil : format), ("srsName", srs?.text),
      (isNew ? "count" : "maxFeatures", isHits ? nil : count.map(String.init)),
      ("startIndex", start.map(String.init)), ("resultType", isHits ? "hits" : nil),
      (isNew ? "resourceId" : "featureID", ids.isEmpty ? nil : ids.joined(separator: ",")),
      ("bbox", box), ("filter", box == nil ? filter.map(writer.document) : nil),
    ])
    guard url.utf8.count > Self.maximumAddress, ids.isEmpty else { return WFSRequest(url: url) }
    return WFSRequest(
      url: service.postAddress(of: "GetFeature").plainURL, body: document(version, writer))
  }

  private func document(_ version: WFSVersion, _ writer: FESWriter) -> [UInt8] {
    let isNew = version == .wfs20
    let prefix = type.name.split(separator: ":").dropLast().first.map(String.init)
    var namespaces = [("wfs", version.namespace), ("fes", version.fes), ("gml", version.gml)]
    if let prefix, let namespace = type.element.namespace,
      !namespaces.contains(where: { $0.0 == prefix })
    {
      namespaces.append((prefix, namespace))
    }
    var xml = XMLWriter(namespaces: namespaces, declaration: true)
    xml.start(XMLQName("GetFeature", in: version.namespace))
    xml.attribute("service", "WFS")
    xml.attribute("version", version.rawValue)
    if let format, !isHits { xml.attribute("outputFormat", format) }
    if let count, !isHits { xml.attribute(isNew ? "count" : "maxFeatures", String(count)) }
    if let start { xml.attribute("startIndex", String(start)) }
    if isHits { xml.attribute("resultType", "hits") }
    xml.start(XMLQName("Query", in: version.namespace))
    xml.attribute(isNew ? "typeNames" : "typeName", type.name)
    if let srs { xml.attribute("srsName", srs.text) }
    if let filter { writer.write(filter, to: &xml) }
    xml.end()
    xml.end()
    return xml.takeBytes()
  }
}

/// Where a service takes requests.
struct WFSOperations: Sendable {
  /// The address that the user gave.
  let base: WFSAddress
  let capabilities: WFSCapabilities

  var version: WFSVersion { capabilities.version }

  /// The address that the service names for an operation, where it is on the same server. A service
  /// cannot send requests, which may hold secrets, to another server.
  func address(of operation: String) -> WFSAddress {
    checked(capabilities.operations[operation]?.get)
  }

  func postAddress(of operation: String) -> WFSAddress {
    checked(capabilities.operations[operation]?.post)
  }

  private func checked(_ text: String?) -> WFSAddress {
    guard let text else { return base }
    let named = WFSAddress(text)
    return named.isOnSameServer(as: base) ? named.adding(parametersOf: base) : base
  }
}
