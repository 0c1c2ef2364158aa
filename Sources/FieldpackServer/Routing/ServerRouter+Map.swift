import Fieldpack
import FieldpackCore
import FieldpackHTTP

/// The page with the map, at `/map`.
extension ServerRouter {
  func map(_ request: ServerRequest) async -> ServerResponse {
    if let answer = answer(toMethodOf: request, taking: ["GET", "HEAD"]) { return answer }
    do throws(FieldpackError) {
      let path = Array(request.path.dropFirst())
      guard let file = try await mapFile(path, request) else {
        return problem(ProblemDocument(404, "There is no such address."), request)
      }
      guard !path.isEmpty || mapPage.hasLeaflet else {
        return problem(
          ProblemDocument(
            503, "The map needs Leaflet. Try: install Debian's package libjs-leaflet."), request)
      }
      return response(file, request)
    } catch {
      return problem(error, request, while: .resource)
    }
  }

  private func mapFile(
    _ path: [String], _ request: ServerRequest
  ) async throws(FieldpackError) -> MapPage.File? {
    switch path {
    case []: return mapPage.page(base: base(of: request))
    case ["layers"]:
      let documents = shown(try await published.documents(), to: request)
      let document = MapLayersDocument(
        title: published.options.title, layers: documents.layers,
        pyramids: documents.pyramids, symbols: try await LayerSymbols(of: published.ownFile?.store))
      return MapPage.File(type: MediaType.json, bytes: Array(document.tree.text.utf8))
    default: return mapPage.file(path)
    }
  }

  func response(_ file: MapPage.File, _ request: ServerRequest) -> ServerResponse {
    // A browser asks each time whether its copy is still valid: the files change with the program.
    let fields: HTTPFields = [
      "Content-Type": file.type, "ETag": file.tag, "Cache-Control": "no-cache",
      "Content-Security-Policy": MapPage.policy, "Referrer-Policy": "same-origin",
    ]
    if Negotiation.has(file.tag, in: request.fields["If-None-Match"]) {
      return ServerResponse(304, fields: fields)
    }
    return ServerResponse(200, fields: fields, body: .bytes(file.bytes))
  }
}
