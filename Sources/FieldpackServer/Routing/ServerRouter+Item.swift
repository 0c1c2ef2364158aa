import FieldpackCore
import FieldpackHTTP
import FieldpackServices

/// One feature.
extension ServerRouter {
  func item(
    _ id: String, of layer: ServedLayer, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let (asked, format) = try item(of: layer, request)
    var bytes: [UInt8]?
    do throws(FieldpackError) {
      if let id = layer.featureID(id) {
        bytes = try await published.content.readSoon { (snapshot) throws(FieldpackError) in
          try asked.bytes(of: id, in: snapshot)
        }
      }
    } catch {
      return problem(error, request, while: .resource)
    }
    return response(bytes, id, asked, format, request)
  }

  /// As ``item(_:of:_:)``; `nil` where the feature is not found soon, and where the request fails:
  /// ``item(_:of:_:)`` then gives the answer.
  func itemAtOnce(
    _ id: String, of layer: ServedLayer, _ request: ServerRequest
  ) -> ServerResponse? {
    do throws(FieldpackError) {
      guard let feature = layer.featureID(id) else { return nil }
      let (asked, format) = try item(of: layer, request)
      let bytes = try published.content.readAtOnce { (snapshot) throws(FieldpackError) in
        try asked.bytes(of: feature, in: snapshot)
      }
      return bytes.map { response($0, id, asked, format, request) }
    } catch { return nil }
  }

  /// What is asked for, and in which format.
  private func item(
    of layer: ServedLayer, _ request: ServerRequest
  ) throws(FieldpackError) -> (ItemsRequest, String) {
    try ServerOperation.getItem.check(request.query, in: layer)
    let format = try Negotiation.format(of: request, for: .getItem)
    return (try ItemsRequest(crs: request.last(.crs), of: layer, by: axes), format)
  }

  /// - Parameter bytes: the feature as GeoJSON; `nil` where there is none.
  private func response(
    _ bytes: [UInt8]?, _ id: String, _ asked: ItemsRequest, _ format: String,
    _ request: ServerRequest
  ) -> ServerResponse {
    guard var bytes else { return missingFeature(of: asked.layer, request) }
    // The page has the same content as the GeoJSON in other bytes, and so another tag.
    let tag = ItemTag.tag(of: bytes, crs: asked.crs, format: format)
    var fields: HTTPFields = [
      "ETag": tag, "Vary": "Accept", "Content-Crs": "<\(asked.crs.uri)>",
      "Content-Type": format == "html" ? MediaType.html : MediaType.geoJSON,
    ]
    if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
      return ServerResponse(304, fields: fields)
    }
    let address = ResourceAddress(
      operation: .getItem, base: base(of: request), path: request.path, query: request.query,
      format: format)
    // The closing brace and the end of the line.
    bytes.removeLast(2)
    bytes += ",\"links\":".utf8
    bytes += address.links()
    bytes.append(UInt8(ascii: "}"))
    guard format == "html" else {
      return ServerResponse(200, fields: fields, body: .bytes(bytes))
    }
    fields["Content-Security-Policy"] = DocumentPage.policy
    let tree = try? FeatureBody.json(bytes)
    let page = DocumentPage(request.path, title: id, tree ?? .null, base: base(of: request))
    return ServerResponse(200, fields: fields, body: .bytes(page.bytes))
  }
}
