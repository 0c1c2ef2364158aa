import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackHTTP

/// One feature.
extension ServerRouter {
  func item(
    _ id: String, of layer: ServedLayer, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    try ServerOperation.getItem.check(request.query, in: layer)
    let format = try Negotiation.format(of: request, for: .getItem)
    let asked = try ItemsRequest(crs: request.last(.crs), of: layer)
    guard let number = Int64(id),
      let text = try await feature(number, asked)
    else {
      return problem(
        ProblemDocument(404, "The collection '\(layer.collectionID)' has no such feature."), request
      )
    }
    let tag = ServedFile.tag(of: Array(text.utf8))
    var fields: HTTPFields = [
      "ETag": tag, "Vary": "Accept", "Content-Crs": "<\(asked.crs.uri)>",
      "Content-Type": format == "html" ? MediaType.html : MediaType.geoJSON,
    ]
    if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
      return ServerResponse(304, fields: fields)
    }
    let whole = text.dropLast(2) + ",\"links\":" + links(of: id, layer, request, format) + "}"
    guard format == "html" else {
      return ServerResponse(200, fields: fields, body: .bytes(Array(whole.utf8)))
    }
    fields["Content-Security-Policy"] = DocumentPage.policy
    let tree = try? JSONValueReader.read(String(whole))
    let page = DocumentPage(request.path, title: id, tree ?? .null, base: base(of: request))
    return ServerResponse(200, fields: fields, body: .bytes(page.bytes))
  }

  /// The feature as GeoJSON and a line break; `nil` where there is none.
  private func feature(
    _ number: Int64, _ asked: ItemsRequest
  ) async throws(FieldpackError) -> String? {
    var asked = asked
    asked.filter = .compare(
      .column(asked.layer.schema.idColumn ?? "fid"), .equal, .literal(.integer(number)))
    let query = asked.query(limit: 1, box: nil)
    let swaps = asked.swapsAxes
    return try await file.store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      let output = ByteOutput()
      var options = GeoJSONWriter.Options()
      options.layout = .lines
      options.swapsAxes = swaps
      var writer = GeoJSONWriter(output, options: options)
      try snapshot.scan(query, into: &writer)
      try writer.finish()
      return writer.count == 0 ? nil : String(decoding: output.buffer, as: UTF8.self)
    }
  }

  private func links(
    of id: String, _ layer: ServedLayer, _ request: ServerRequest, _ format: String
  ) -> String {
    let base = base(of: request)
    var links = ServerOperation.getItem.formats.map { name, type in
      ServerLink(
        name == format ? "self" : "alternate", base.href(request.path, query: ["f": name]),
        type: MediaType.name(type))
    }
    links.append(
      ServerLink("collection", base.href(Array(request.path.prefix(2))), type: MediaType.json))
    var bytes: [UInt8] = []
    JSONValue.array(links.map(\.json)).append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension ServerRequest {
  /// The last value of a parameter.
  func last(_ parameter: QueryParameter) -> String? {
    query.last { $0.name == parameter.rawValue }?.value
  }
}
