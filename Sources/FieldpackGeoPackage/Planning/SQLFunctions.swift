import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// The SQL functions of every connection: those that GeoPackage's triggers call, and Fieldpack's
/// own.
enum SQLFunctions {
  private static let flags: FunctionFlags = [.deterministic, .innocuous]

  static func register(on connection: Connection) throws(SQLiteError) -> RelationFunctions {
    try registerBounds(on: connection)
    try registerEnvelopeTests(on: connection)
    try connection.register(function: "fieldpack_instant", arguments: 1, flags: flags, instant)
    let relations = RelationFunctions()
    for relation in SpatialRelation.allCases {
      try connection.register(
        function: "fieldpack_\(relation.rawValue)", arguments: 4, flags: flags
      ) { relations.evaluate(relation, $0) }
    }
    try connection.register(function: "fieldpack_states_system", arguments: 4, flags: flags) {
      relations.evaluateSystem($0)
    }
    try connection.register(function: "fieldpack_relate", arguments: 5, flags: flags) {
      relations.evaluateMatrix($0)
    }
    try connection.register(function: "fieldpack_dwithin", arguments: 6, flags: flags) {
      relations.evaluateDistance($0)
    }
    try registerFilterFunctions(on: connection)
    try registerBodies(on: connection)
    try registerVertexTest(on: connection)
    try registerTextOrder(on: connection)
    try connection.register(function: "fieldpack_real_at", arguments: 2, flags: flags, realAt)
    return relations
  }

  /// A collation by code point, for files whose encoding makes BINARY sort otherwise.
  static let textOrder = "fieldpack_text"

  private static func registerTextOrder(on connection: Connection) throws(SQLiteError) {
    try connection.register(collation: textOrder) { left, right in
      left.elementsEqual(right) ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }
  }

  /// `fieldpack_wkb(geometry)`: the WKB of a geometry. A damaged geometry gives no bytes, an empty
  /// or missing one NULL.
  private static func registerBodies(on connection: Connection) throws(SQLiteError) {
    try connection.register(function: "fieldpack_wkb", arguments: 1, flags: flags) { context in
      guard context.kind(0) == .blob else { return }
      let body = context.withBytes(0) { blob -> [UInt8]? in
        guard let header = try? GeoPackageBinary(blob) else { return [] }
        if header.isFlaggedEmpty || header.isExtended { return nil }
        let body = blob.extracting(header.bodyOffset...)
        if (try? WKB.isEmpty(body)) == true { return nil }
        return body.withUnsafeBytes { Array($0) }
      }
      if let body { context.set(body) }
    }
  }

  /// `fieldpack_vertex_within(geometry, minX, minY, maxX, maxY)`: whether a vertex lies in the box;
  /// NULL for NULL, empty and damaged geometries.
  private static func registerVertexTest(on connection: Connection) throws(SQLiteError) {
    try connection.register(function: "fieldpack_vertex_within", arguments: 5, flags: flags) {
      context in
      guard let envelope = envelope(of: context) else { return }
      let box = Envelope(
        minX: context.real(1), minY: context.real(2), maxX: context.real(3),
        maxY: context.real(4))
      guard envelope.intersects(box) else { return context.set(false) }
      if let answer = context.withBytes(0, { vertex(in: box, $0) }) { context.set(answer) }
    }
  }

  private static func vertex(in box: Envelope, _ blob: RawSpan) -> Bool? {
    var visitor = VertexVisitor(box)
    do throws(GeometryError) {
      let header = try GeoPackageBinary(blob)
      try WKB.visit(blob.extracting(header.bodyOffset...), with: &visitor)
    } catch {
      return nil
    }
    return visitor.answer
  }

  // MARK: Bounds

  /// `ST_MinX`, its siblings and `ST_IsEmpty` as annex F.3 requires: NULL for NULL, and for the
  /// bounds of an empty geometry.
  private static func registerBounds(on connection: Connection) throws(SQLiteError) {
    let bounds: [(String, @Sendable (Envelope) -> Double)] = [
      ("ST_MinX", \.minX), ("ST_MaxX", \.maxX), ("ST_MinY", \.minY), ("ST_MaxY", \.maxY),
    ]
    for (name, bound) in bounds {
      try connection.register(function: name, arguments: 1, flags: flags) { context in
        if let envelope = envelope(of: context) { context.set(bound(envelope)) }
      }
    }
    try connection.register(function: "ST_IsEmpty", arguments: 1, flags: flags) { context in
      guard context.kind(0) == .blob else { return }
      let isEmpty = context.withBytes(0) { blob in try? GeoPackageBinary.isEmpty(blob) }
      if let isEmpty { context.set(isEmpty) }
    }
  }

  /// The envelope of the first argument; `nil` for NULL, empty and damaged geometries.
  static func envelope(of context: FunctionContext) -> Envelope? {
    guard context.kind(0) == .blob else { return nil }
    return context.withBytes(0) { blob in
      (try? GeoPackageBinary.envelope(of: blob)) ?? nil
    }
  }

  private static func registerEnvelopeTests(on connection: Connection) throws(SQLiteError) {
    let tests: [(String, @Sendable (Envelope, Envelope) -> Bool)] = [
      ("fieldpack_envelope_intersects", { $0.intersects($1) }),
      ("fieldpack_envelope_within", { $1.contains($0) }),
      ("fieldpack_envelope_contains", { $0.contains($1) }),
    ]
    for (name, test) in tests {
      try connection.register(function: name, arguments: 5, flags: flags) { context in
        guard let envelope = envelope(of: context) else { return }
        let box = Envelope(
          minX: context.real(1), minY: context.real(2), maxX: context.real(3),
          maxY: context.real(4))
        context.set(test(envelope, box))
      }
    }
  }

  /// `fieldpack_real_at(numbers, n)`: the n-th double in a blob, counted from 0.
  private static func realAt(_ context: FunctionContext) {
    let index = context.integer(1)
    guard context.kind(0) == .blob, index >= 0, index < 1 << 40 else { return }
    let number = context.withBytes(0) { numbers -> Double? in
      let offset = Int(index) * 8
      guard offset + 8 <= numbers.byteCount else { return nil }
      return numbers.unsafeLoadUnaligned(fromByteOffset: offset, as: Double.self)
    }
    if let number { context.set(number) }
  }

  // MARK: Time

  /// `fieldpack_instant(text)`: milliseconds since 1970 of a text that names a moment; NULL for
  /// anything else.
  private static func instant(_ context: FunctionContext) {
    guard context.kind(0) == .text else { return }
    context.withBytes(0) { span in
      span.withUnsafeBytes { raw in
        if let moment = DateTimeParser.moment(raw.assumingMemoryBound(to: UInt8.self)) {
          context.set(moment.milliseconds)
        }
      }
    }
  }
}
