import FieldpackCore
import FieldpackGeometry

extension FilterEvaluator {
  func envelope(
    _ relation: EnvelopeRelation, _ box: Envelope,
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    guard let envelope = try envelope(of: row) else { return nil }
    return switch relation {
    case .intersects: envelope.intersects(box)
    case .within: box.contains(envelope)
    case .contains: envelope.contains(box)
    case .disjoint: !envelope.intersects(box)
    }
  }

  private func envelope(
    of row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Envelope? {
    if let envelope = row.envelope { return envelope.isEmpty ? nil : envelope }
    let computed = try row.withGeometry { span throws(FieldpackError) in
      try reading(row.id) { () throws(GeometryError) in try WKB.envelope(of: span) }
    }
    return computed ?? nil
  }

  func relate(
    _ relation: SpatialRelation, _ geometry: Geometry,
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    if let envelope = row.envelope, envelope.isEmpty { return nil }
    let answer = try row.withGeometry { span throws(FieldpackError) in
      let isEmpty = try reading(row.id) { () throws(GeometryError) in try WKB.isEmpty(span) }
      return isEmpty ? nil : try self.answer(relation, geometry, span)
    }
    return answer ?? nil
  }

  func pass(
    _ test: SpatialTest, _ geometry: Geometry, _ srs: SRS,
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    if geometry.isEmpty { return nil }
    if let envelope = row.envelope, envelope.isEmpty { return nil }
    let answer = try row.withGeometry { span throws(FieldpackError) in
      let isEmpty = try reading(row.id) { () throws(GeometryError) in try WKB.isEmpty(span) }
      return isEmpty ? nil : try self.answer(test, geometry, srs, span)
    }
    return answer ?? nil
  }

  private func reading<R>(
    _ id: FeatureID, _ body: () throws(GeometryError) -> R
  ) throws(FieldpackError) -> R {
    do {
      return try body()
    } catch {
      throw FieldpackError(
        .invalidData, "the geometry of feature \(id): \(error)", location: .init(feature: id),
        underlying: error)
    }
  }

  func vertex(
    in box: Envelope, _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    if let envelope = row.envelope {
      if envelope.isEmpty { return nil }
      if !envelope.intersects(box) { return false }
    }
    let answer = try row.withGeometry { span throws(FieldpackError) in
      try reading(row.id) { () throws(GeometryError) in
        var visitor = VertexVisitor(box)
        try WKB.visit(span, with: &visitor)
        return visitor.answer
      }
    }
    return answer ?? nil
  }

  func relateToItself(
    _ relation: SpatialRelation, _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    let geometry = try row.withGeometry { span throws(FieldpackError) in
      try reading(row.id) { () throws(GeometryError) in try WKB.read(span) }
    }
    guard let geometry else { return nil }
    return try relate(relation, geometry, row)
  }

  func relate(
    _ relation: SpatialRelation, _ geometry: Geometry, toLiteral wkb: [UInt8]
  ) throws(FieldpackError) -> Bool? {
    let isEmpty = (try? WKB.isEmpty(wkb.span.bytes)) ?? true
    return isEmpty || geometry.isEmpty ? nil : try answer(relation, geometry, wkb.span.bytes)
  }
}
