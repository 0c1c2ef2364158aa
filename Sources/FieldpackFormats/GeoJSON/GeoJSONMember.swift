import FieldpackGeometry

/// The members of GeoJSON objects that mean something to the reader.
enum GeoJSONMember {
  case type, features, geometry, properties, id, coordinates, geometries, crs, bbox, metadata
  case foreign

  init(_ name: UnsafeBufferPointer<UInt8>) {
    switch name.count {
    case 2 where name.equals("id"): self = .id
    case 3 where name.equals("crs"): self = .crs
    case 4 where name.equals("type"): self = .type
    case 4 where name.equals("bbox"): self = .bbox
    case 8 where name.equals("geometry"): self = .geometry
    case 8 where name.equals("features"): self = .features
    case 8 where name.equals("metadata"): self = .metadata
    case 10 where name.equals("properties"): self = .properties
    case 10 where name.equals("geometries"): self = .geometries
    case 11 where name.equals("coordinates"): self = .coordinates
    default: self = .foreign
    }
  }
}

/// What the `type` member of an object says.
enum GeoJSONType: Equatable {
  case missing, featureCollection, feature
  case geometry(GeometryType)
  case unknown(String)

  init(_ name: UnsafeBufferPointer<UInt8>) {
    switch name.count {
    case 5 where name.equals("Point"): self = .geometry(.point)
    case 7 where name.equals("Feature"): self = .feature
    case 7 where name.equals("Polygon"): self = .geometry(.polygon)
    case 10 where name.equals("LineString"): self = .geometry(.lineString)
    case 10 where name.equals("MultiPoint"): self = .geometry(.multiPoint)
    case 12 where name.equals("MultiPolygon"): self = .geometry(.multiPolygon)
    case 15 where name.equals("MultiLineString"): self = .geometry(.multiLineString)
    case 17 where name.equals("FeatureCollection"): self = .featureCollection
    case 18 where name.equals("GeometryCollection"): self = .geometry(.geometryCollection)
    default: self = .unknown(String(decoding: name.prefix(40), as: UTF8.self))
    }
  }
}

/// Why a feature cannot be read although its JSON is in order.
struct FeatureProblem {
  var message: String
  /// Where in the file.
  var offset: Int
}
