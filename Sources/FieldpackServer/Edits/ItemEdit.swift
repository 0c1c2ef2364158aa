import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FieldpackServices

/// A change of one feature, with the conditions of the client. The change is made within one
/// transaction, so that one of two clients that change the same state of a feature fails.
struct ItemEdit: Sendable {
  enum Change: Sendable {
    case replace(FeatureBody)
    case patch(FeatureBody)
    case delete
  }

  enum Outcome: Sendable {
    /// With the new entity tag; `nil` for a feature that was deleted.
    case done(tag: String?)
    case missing
    case failedCondition
  }

  let id: FeatureID
  let layer: ServedLayer
  let store: StoreID
  let change: Change
  let conditions: EditConditions
  /// The system of the positions in the body.
  let crs: CRSName
  let axes: CRSAxes

  func make(in writer: any ServedWriting) throws(FieldpackError) -> Outcome {
    do throws(FieldpackError) {
      // Whoever deletes whatever there is need not keep others away.
      if case .delete = change, conditions.areNone {} else { try writer.lock(id, in: layer.id) }
    } catch {
      guard error.code == .notFound else { throw error }
      return .missing
    }
    let isMet = try conditions.hold { (crs) throws(FieldpackError) in
      // Layers without geometry are given in no system.
      let system = crs == .crs84 ? nil : crs.uri
      guard let asked = try? ItemsRequest(crs: system, of: layer, by: axes) else { return nil }
      return try asked.bytes(of: id, in: writer)
    }
    guard isMet else { return .failedCondition }
    do throws(FieldpackError) {
      switch change {
      case .replace(let body):
        try replace(by: body, in: writer)
      case .patch(let body):
        try writer.update(
          id, in: layer.id, set: try merged(body, in: writer),
          geometry: try geometry(of: body, in: writer))
      case .delete:
        try writer.delete(id, in: layer.id)
        return .done(tag: nil)
      }
    } catch {
      guard error.code == .notFound else { throw error }
      return .missing
    }
    return .done(tag: ItemTag.tag(of: id, in: layer, writer))
  }

  // MARK: Attributes

  /// Sets all columns: a column that the body does not name becomes NULL, or its default where it cannot be
  /// NULL.
  private func replace(
    by body: FeatureBody, in writer: any ServedWriting
  ) throws(FieldpackError) {
    var all = body.attributes
    var defaulted: [ColumnDefinition] = []
    for column in layer.settableColumns where body.attributes[column.name] == nil {
      if !column.isNullable, layer.hasDefault(column) {
        defaulted.append(column)
      } else {
        all[column.name] = .null
      }
    }
    try writer.update(
      id, in: layer.id, set: all, toDefault: defaulted,
      geometry: try geometry(of: body, in: writer))
  }

  /// The attributes with the patches of JSON objects applied to what is stored.
  private func merged(
    _ body: FeatureBody, in writer: any ServedWriting
  ) throws(FieldpackError) -> Attributes {
    guard !body.documents.isEmpty else { return body.attributes }
    var attributes = body.attributes
    let stored = try writer.feature(id, in: layer.id)
    for (column, patch) in body.documents {
      var old = JSONValue.null
      if case .text(let text)? = stored?.attributes[column] {
        old = (try? JSONValueReader.read(text)) ?? .null
      }
      attributes[column] = PropertyValue.document(old.merging(patch))
    }
    return attributes
  }

  // MARK: Geometry

  /// The geometry to store. A geometry that equals the one that the server gave keeps the stored bytes,
  /// with arcs and M, and without the rounding of a transformation to another system and back.
  private func geometry(
    of body: FeatureBody, in writer: any ServedWriting
  ) throws(FieldpackError) -> GeometryUpdate {
    guard case .set(let given?) = body.geometry else { return body.geometry }
    guard try !isGiven(given, in: writer) else { return .keep }
    // A geometry that cannot be read may be replaced.
    if case .set(let new?) = body.stored,
      let stored = (try? writer.feature(id, in: layer.id))?.geometry
    {
      // A client that sends no z wants none; m and arcs have no place in GeoJSON.
      try GeometryLoss(of: stored, replacedBy: new).subtracting(.z)
        .refuse(KeyTuple(store: store, layer: layer.id, feature: id))
    }
    return body.stored
  }

  /// Whether a geometry is the stored one as the server gives it, with all decimals or with those of
  /// lists.
  private func isGiven(
    _ geometry: Geometry, in writer: any ServedWriting
  ) throws(FieldpackError) -> Bool {
    guard let column = layer.schema.geometry,
      let asked = try? ItemsRequest(crs: crs.uri, of: layer, by: axes)
    else { return false }
    for decimals in [nil, ItemsPage.decimals] {
      guard let bytes = try? asked.bytes(of: id, in: writer, decimals: decimals),
        let value = (try? FeatureBody.json(bytes))?["geometry"], value != .null,
        let own = try? FeatureBody.geometry(value, for: column, isSwapped: asked.swapsAxes)
      else { return false }
      if own == geometry { return true }
    }
    return false
  }
}
