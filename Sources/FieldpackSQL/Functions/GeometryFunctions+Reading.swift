import FieldpackGeometry
import FieldpackSQLite

/// Functions that read a geometry, and functions that make one from text, bytes or numbers.
extension GeometryFunctions {
  func registerReading() throws(SQLiteError) {
    try add("ST_AsText", 1...2) { call in
      let decimals = call.count > 1 ? try call.integer(1, in: 0...17) : nil
      let text = try call.withGeometry(0) { _, wkb in
        var text: [UInt8] = []
        try WKT.append(wkb: wkb, to: &text, decimals: decimals)
        return text
      }
      if let text { call.context.set(utf8: text.span.bytes) }
    }
    try add("ST_AsBinary", 1) { call in
      _ = try call.withGeometry(0) { _, wkb in call.context.set(wkb) }
    }
    try add("ST_SRID", 1) { call in
      let srsID = try call.withGeometry(0) { header, _ in header.srsID }
      if let srsID { call.context.set(Int64(srsID)) }
    }
    try add("ST_GeometryType", 1) { call in
      let type = try call.withGeometry(0) { _, wkb in try WKB.header(of: wkb).type }
      if let type { call.context.set(type.name) }
    }
    let facts: [(String, @Sendable (Dimensions) -> Int64)] = [
      ("ST_CoordDim", { Int64($0.count) }), ("ST_Is3D", { $0.hasZ ? 1 : 0 }),
      ("ST_IsMeasured", { $0.hasM ? 1 : 0 }),
    ]
    for (name, fact) in facts {
      try add(name, 1) { call in
        let answer = try call.withGeometry(0) { _, wkb in
          fact(try WKB.header(of: wkb).dimensions)
        }
        if let answer { call.context.set(answer) }
      }
    }
    try add("ST_NPoints", 1) { call in
      let count = try call.withGeometry(0) { _, wkb in try WKB.coordinateCount(wkb) }
      if let count { call.context.set(Int64(count)) }
    }
    try registerOrdinates()
  }

  /// `ST_X` and its siblings: NULL for everything but a point that has the ordinate.
  private func registerOrdinates() throws(SQLiteError) {
    let ordinates: [(String, @Sendable (Position) -> Double?)] = [
      ("ST_X", { $0.x }), ("ST_Y", { $0.y }), ("ST_Z", { $0.z }), ("ST_M", { $0.m }),
    ]
    for (name, ordinate) in ordinates {
      try add(name, 1) { call in
        let position = try call.withGeometry(0) { _, wkb -> Position? in
          guard try WKB.header(of: wkb).type == .point,
            case .point(let position, _) = try WKB.read(wkb)
          else { return nil }
          return position
        }
        if let value = (position ?? nil).flatMap(ordinate) { call.context.set(value) }
      }
    }
  }

  func registerWriting() throws(SQLiteError) {
    try add("ST_GeomFromText", 1...2) { call in
      guard let text = try call.text(0), let srsID = try call.srsID(1) else { return }
      var writer = WKBWriter()
      let stated = try WKT.visit(Array(text.utf8).span.bytes, with: &writer)
      let id = call.count > 1 ? srsID : stated ?? srsID
      try call.set(wkb: writer.bytes.span.bytes, srsID: id)
    }
    try add("ST_GeomFromWKB", 1...2) { call in
      guard !call.context.isNull(0), let srsID = try call.srsID(1) else { return }
      guard call.context.kind(0) == .blob else {
        throw FunctionMistake("argument 1 is not a blob of WKB")
      }
      try call.context.withBytes(0) { wkb in
        let stated = call.count > 1 ? nil : try WKB.srid(of: wkb)
        try call.set(wkb: wkb, srsID: stated ?? srsID)
      }
    }
    try add("AsGPB", 1) { call in
      guard call.context.kind(0) == .blob else { return }
      // Results of SpatiaLite's functions are converted already.
      if call.context.withBytes(0, { (try? GeoPackageBinary($0)) != nil }) {
        call.context.setArgument(0)
      } else if let blob = call.context.withBytes(0, { SpatiaLiteBlob.geoPackageBlob(of: $0) }) {
        call.context.set(blob)
      }
    }
    try add("ST_Point", 2...3) { call in
      guard let x = try call.number(0), let y = try call.number(1),
        let srsID = try call.srsID(2)
      else { return }
      call.set(.point(x: x, y: y), srsID: srsID)
    }
    try add("ST_MakeEnvelope", 4...5) { call in
      guard let west = try call.number(0), let south = try call.number(1),
        let east = try call.number(2), let north = try call.number(3),
        let srsID = try call.srsID(4)
      else { return }
      guard west <= east, south <= north else {
        throw FunctionMistake("the box is empty: its west lies east, or its south north")
      }
      let box = Envelope(minX: west, minY: south, maxX: east, maxY: north)
      call.set(Geometry(box), srsID: srsID)
    }
    try add("ST_Envelope", 1) { call in
      let found = try call.withGeometry(0) { header, wkb in
        (header.srsID, try header.envelope ?? WKB.envelope(of: wkb))
      }
      guard let (srsID, envelope) = found else { return }
      call.set(envelope.map { Geometry($0) } ?? .polygon([], .xy), srsID: srsID)
    }
    try registerChanges()
  }

  /// Functions that convert a geometry to another kind.
  private func registerChanges() throws(SQLiteError) {
    let changes: [(String, @Sendable (Geometry) -> Geometry)] = [
      ("ST_Force2D", { $0.converted(to: .xy) }), ("ST_Multi", { $0.promotedToMulti() }),
      ("ST_CurveToLine", { $0.linearized() }),
    ]
    for (name, change) in changes {
      try add(name, 1) { call in
        let changed = try call.withGeometry(0) { header, wkb in
          (change(try WKB.read(wkb)), header.srsID)
        }
        if let (geometry, srsID) = changed { call.set(geometry, srsID: srsID) }
      }
    }
  }
}

extension Geometry {
  /// The box as a polygon, counterclockwise from its lower left corner.
  init(_ box: Envelope) {
    let ring = CoordinateSequence(
      dimensions: .xy,
      ordinates: [
        box.minX, box.minY, box.maxX, box.minY, box.maxX, box.maxY, box.minX, box.maxY, box.minX,
        box.minY,
      ])
    self = .polygon([ring], .xy)
  }
}
