import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite
import FieldpackTopology

/// Measures and distances in metres on the ellipsoid, and transformations.
extension GeometryFunctions {
  func registerGeodesics() throws(SQLiteError) {
    let measures: [(String, @Sendable (GeodesicMeasures) -> Double)] = [
      ("ST_GeodesicArea", \.area), ("ST_GeodesicLength", \.length),
      ("ST_GeodesicPerimeter", \.perimeter),
    ]
    for (name, measure) in measures {
      try add(name, 1) { call in
        let value = try call.withGeometry(0) { header, wkb in
          let file = call.tools.file
          let system = try file.geodesics(file.reference(srsID: header.srsID))
          return measure(try system.measures(of: wkb))
        }
        if let value { call.context.set(value) }
      }
    }
    try add("ST_GeodesicDistance", 2) { call in
      guard let (a, b) = try call.tools.shapes(of: call) else { return }
      if let distance = a.distance(to: b) { call.context.set(distance) }
    }
    try add("ST_GeodesicDWithin", 3) { call in
      guard let limit = try call.number(2), let (a, b) = try call.tools.shapes(of: call)
      else { return }
      if let answer = a.isWithin(limit, of: b) { call.context.set(answer) }
    }
  }

  /// Buffers in metres. Geometries of other systems than longitude and latitude go there and back.
  func registerGeodesicBuffer() throws(SQLiteError) {
    try add("ST_GeodesicBuffer", 2...3) { call in
      guard let metres = try call.number(1), let style = try call.bufferStyle() else { return }
      let made = try call.withGeometry(0) { header, wkb in
        let file = call.tools.file
        let source = try file.reference(srsID: header.srsID)
        let system = try file.geodesics(source)
        var bytes = wkb.withUnsafeBytes { [UInt8]($0) }
        try system.transformation?.transform(wkb: &bytes)
        let context = try call.tools.topology()
        let geometry = try context.read(wkb: bytes).geometry()
        let buffer = GeodesicBuffer(
          metres: metres, style: style, on: system.ellipsoid, in: context)
        bytes = WKB.bytes(of: try buffer.buffer(of: geometry))
        if system.transformation != nil {
          try file.transformations.transformation(from: system.frame, to: source)
            .transform(wkb: &bytes)
        }
        return (bytes, header.srsID)
      }
      if let (bytes, srsID) = made { try call.set(wkb: bytes.span.bytes, srsID: srsID) }
    }
  }

  func registerSystems() throws(SQLiteError) {
    try add("ST_SetSRID", 2) { call in
      guard let srsID = try call.srsID(1) else { return }
      _ = try call.withGeometry(0) { _, wkb in try call.set(wkb: wkb, srsID: srsID) }
    }
    try add("ST_Transform", 2) { call in
      guard let (target, srsID) = try call.targetSystem() else { return }
      let moved = try call.withGeometry(0) { header, wkb in
        var bytes = wkb.withUnsafeBytes { [UInt8]($0) }
        let file = call.tools.file
        let source = try file.reference(srsID: header.srsID)
        try file.transformations.transformation(from: source, to: target).transform(wkb: &bytes)
        return bytes
      }
      if let moved { try call.set(wkb: moved.span.bytes, srsID: srsID) }
    }
  }
}

extension GeometryCall {
  /// The second argument: an `srs_id`, or a text such as `EPSG:25833`.
  fileprivate func targetSystem() throws -> (SRSReference, Int32)? {
    if context.kind(1) == .text, let text = context.string(1) {
      guard let srs = SRS(text) else {
        throw FunctionMistake("'\(text)' is no reference system such as EPSG:25833")
      }
      return (SRSReference(srs), try tools.file.srsID(of: srs))
    }
    guard let srsID = try srsID(1) else { return nil }
    return (try tools.file.reference(srsID: srsID), srsID)
  }
}
