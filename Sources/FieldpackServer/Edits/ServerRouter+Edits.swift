import FieldpackCore
import FieldpackGeometry
import FieldpackHTTP
import FieldpackServices

/// Part 4 of OGC API Features: features are created, replaced, updated and deleted.
extension ServerRouter {
  // MARK: Methods

  static func editMethods(hasID: Bool) -> [String] {
    hasID ? ["PUT", "PATCH", "DELETE"] : ["POST"]
  }

  /// The methods besides reading that the caller may use on a collection.
  func editMethods(of layer: ServedLayer, hasID: Bool, for request: ServerRequest) -> [String] {
    guard mayWrite(layer.id, request) else { return [] }
    return Self.editMethods(hasID: hasID).filter { canEdit(layer, by: $0) }
  }

  /// Whether any caller can have the right to change a collection by a method.
  func canEdit(_ layer: ServedLayer, by method: String) -> Bool {
    guard isWritable, layer.isEditable else { return false }
    return switch method {
    case "POST": layer.rights.contains(.create)
    case "DELETE": layer.rights.contains(.delete)
    default: layer.rights.contains(.update)
    }
  }

  static func options(_ methods: [String]) -> ServerResponse {
    var fields: HTTPFields = ["Allow": methods.joined(separator: ", ")]
    if methods.contains("POST") { fields["Accept-Post"] = bodyTypes.joined(separator: ", ") }
    if methods.contains("PATCH") { fields["Accept-Patch"] = MediaType.mergePatch }
    return ServerResponse(200, fields: fields)
  }

  private static let bodyTypes = [MediaType.geoJSON, MediaType.json]

  // MARK: Edits

  /// - Parameter id: the id of the feature; `nil` for new features.
  /// - Throws: `.invalidArgument` for a mistake of the request.
  func edit(
    _ id: String?, of layer: ServedLayer, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    guard mayWrite(layer.id, request) else {
      return problem(ProblemDocument(403, "This collection may not be changed."), request)
    }
    try ServerOperation.createItems.check(request.query, in: layer)
    if let refusal = typeRefusal(request) { return refusal }
    do throws(FieldpackError) {
      guard let id else { return try await create(in: layer, request) }
      guard let own = layer.featureID(id), own.description == id else {
        return missingFeature(of: layer, request)
      }
      return try await change(own, of: layer, request)
    } catch {
      let rule = published.content.brokenRule(error)
      guard let document = EditProblem.document(for: error, breaking: rule, in: layer) else {
        return problem(error, request, while: .body)
      }
      return problem(document, request)
    }
  }

  func missingFeature(of layer: ServedLayer, _ request: ServerRequest) -> ServerResponse {
    problem(
      ProblemDocument(404, "The collection '\(layer.collectionID)' has no such feature."), request)
  }

  /// The answer to a body of a type that is not read.
  private func typeRefusal(_ request: ServerRequest) -> ServerResponse? {
    guard request.method != "DELETE" else { return nil }
    let types = request.method == "PATCH" ? [MediaType.mergePatch] : Self.bodyTypes
    let given = request.fields["Content-Type"] ?? ""
    if types.contains(given) { return nil }
    let parts = given.split(separator: ";").map { part in
      part.filter { !$0.isWhitespace }.lowercased()
    }
    let charset = parts.dropFirst().first { $0.hasPrefix("charset=") }
    if let type = parts.first, types.contains(type),
      charset == nil || ["charset=utf-8", "charset=\"utf-8\""].contains(charset)
    {
      return nil
    }
    var response = problem(
      ProblemDocument(415, "The body is to be \(types.joined(separator: " or ")), in UTF-8."),
      request)
    response.fields[request.method == "PATCH" ? "Accept-Patch" : "Accept-Post"] =
      types.joined(separator: ", ")
    return response
  }

  // MARK: New features

  private func create(
    in layer: ServedLayer, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let crs = try contentCRS(request)
    let isSwapped = try axes.isNorthFirst(crs, for: layer)
    let (bodies, isCollection) = try FeatureBody.features(
      in: request.body, for: layer, isSwapped: isSwapped)
    let placed = try await place(bodies, in: layer, from: crs)
    let made = try await published.content.edit(weight: placed.count) {
      (writer) throws(FieldpackError) in
      var ids: [FeatureID] = []
      for (index, body) in placed.enumerated() {
        var feature = Feature(attributes: body.attributes)
        feature.id = body.id
        if case .set(let geometry) = body.stored { feature.geometry = geometry }
        do throws(FieldpackError) {
          ids.append(try writer.create(feature, in: layer.id))
        } catch {
          guard isCollection else { throw error }
          // The position in the body takes the place of the position in the file, which clients do not
          // need to know.
          throw FieldpackError(
            error.code, error.message, location: error.location,
            position: FilePosition(feature: index + 1), underlying: error.underlying)
        }
      }
      var tag: String?
      if !isCollection, let id = ids.first {
        tag = ItemTag.tag(of: id, in: layer, writer)
      }
      return (ids: ids, tag: tag)
    }
    let addresses = made.ids.map { base(of: request).href(request.path + [$0.description]) }
    var response = ServerResponse(201, MediaType.json, Array(JSONValue(addresses).text.utf8))
    if !isCollection {
      response.fields["Location"] = addresses.first
      response.fields["ETag"] = made.tag
    }
    return response
  }

  // MARK: Features that are there

  private func change(
    _ id: FeatureID, of layer: ServedLayer, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let conditions = EditConditions(request.fields)
    guard conditions.match != nil || !published.options.requiresIfMatch else {
      return problem(
        ProblemDocument(
          428, "A change needs the field If-Match with the ETag of the feature as it was read."),
        request)
    }
    let crs = try contentCRS(request)
    let change = try await self.change(id, of: layer, from: crs, request)
    let edit = ItemEdit(
      id: id, layer: layer, store: published.content.id, change: change, conditions: conditions,
      crs: crs,
      axes: axes)
    let outcome = try await published.content.edit(weight: 1) { (writer) throws(FieldpackError) in
      try edit.make(in: writer)
    }
    switch outcome {
    case .done(let tag):
      var fields: HTTPFields = [:]
      fields["ETag"] = tag
      return ServerResponse(204, fields: fields)
    case .missing: return missingFeature(of: layer, request)
    case .failedCondition:
      return problem(
        ProblemDocument(412, "The feature has been changed since it was read."), request)
    }
  }

  private func change(
    _ id: FeatureID, of layer: ServedLayer, from crs: CRSName, _ request: ServerRequest
  ) async throws(FieldpackError) -> ItemEdit.Change {
    guard request.method != "DELETE" else { return .delete }
    let document = try FeatureBody.json(request.body)
    let isPatch = request.method == "PATCH"
    let body = try FeatureBody(
      document, isPatch ? .patch(id) : .whole(id), for: layer,
      isSwapped: try axes.isNorthFirst(crs, for: layer))
    let placed = try await place([body], in: layer, from: crs).first ?? body
    return isPatch ? .patch(placed) : .replace(placed)
  }

  // MARK: Reference systems

  /// The system of the positions in the body.
  private func contentCRS(_ request: ServerRequest) throws(FieldpackError) -> CRSName {
    guard let field = request.fields["Content-Crs"] else { return .crs84 }
    let text = field.filter { !$0.isWhitespace }
    // The standard wants angle brackets; QGIS sends none.
    guard text.first == "<", text.last == ">" else { return try BoxParameter.system(text) }
    return try BoxParameter.system(String(text.dropFirst().dropLast()))
  }

  /// The bodies with their geometries in the system of the layer.
  private func place(
    _ bodies: [FeatureBody], in layer: ServedLayer, from crs: CRSName
  ) async throws(FieldpackError) -> [FeatureBody] {
    var given: [Geometry] = []
    for body in bodies { if case .set(let geometry?) = body.geometry { given.append(geometry) } }
    let moved = try await published.content.transformed(given, from: crs.srs, to: layer.id)
    if layer.storageCRS != nil {
      // Only a geometry that has a place in longitude and latitude can be given to clients later.
      let lonLat =
        crs.srs == .wgs84
        ? given : try await published.content.transformed(moved, of: layer.id, to: .wgs84)
      for geometry in lonLat { try Self.checkPlace(geometry) }
    }
    var rest = moved[...]
    return bodies.map { body in
      var body = body
      body.stored = body.geometry
      if case .set(.some) = body.geometry, let geometry = rest.popFirst() {
        body.stored = .set(geometry)
      }
      return body
    }
  }

  private static func checkPlace(_ geometry: Geometry) throws(FieldpackError) {
    guard let box = geometry.envelope else { return }
    guard box.minX >= -360, box.maxX <= 360, box.minY >= -90, box.maxY <= 90 else {
      throw FieldpackError(.invalidData, "the geometry does not lie on the earth")
    }
  }
}
