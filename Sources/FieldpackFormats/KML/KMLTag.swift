/// An element of KML by its local name.
enum KMLTag: String, CaseIterable {
  case kml
  case document = "Document"
  case folder = "Folder"
  case placemark = "Placemark"
  case networkLink = "NetworkLink"
  case groundOverlay = "GroundOverlay"
  case screenOverlay = "ScreenOverlay"
  case photoOverlay = "PhotoOverlay"
  case tour = "Tour"
  case name, description, visibility, address, phoneNumber
  case snippet = "Snippet"
  case drawOrder
  case timeStamp = "TimeStamp"
  case timeSpan = "TimeSpan"
  case when, begin, end
  case styleUrl
  case style = "Style"
  case styleMap = "StyleMap"
  case pair = "Pair"
  case key
  case lineStyle = "LineStyle"
  case polyStyle = "PolyStyle"
  case iconStyle = "IconStyle"
  case color, width, fill
  case icon = "Icon"
  case href
  case extendedData = "ExtendedData"
  case data = "Data"
  case value
  case schemaData = "SchemaData"
  case simpleData = "SimpleData"
  case schema = "Schema"
  case simpleField = "SimpleField"
  case point = "Point"
  case lineString = "LineString"
  case linearRing = "LinearRing"
  case polygon = "Polygon"
  case outerBoundary = "outerBoundaryIs"
  case innerBoundary = "innerBoundaryIs"
  case multiGeometry = "MultiGeometry"
  case track = "Track"
  case multiTrack = "MultiTrack"
  case model = "Model"
  case location = "Location"
  case longitude, latitude, altitude
  case coordinates, coord, altitudeMode, tessellate, extrude
  case latLonBox = "LatLonBox"
  case latLonQuad = "LatLonQuad"
  case north, south, east, west
  /// A field that a schema of KML 2.0 names.
  case oldField = "\u{1}"
  case other = "\u{2}"

  /// Whether other elements of KML stand in it.
  var isContainer: Bool { self == .document || self == .folder }

  /// What counts when the features of a folder are numbered.
  var isFeature: Bool {
    switch self {
    case .document, .folder, .placemark, .networkLink, .groundOverlay, .screenOverlay,
      .photoOverlay, .tour:
      true
    default: false
    }
  }

  var holdsText: Bool {
    switch self {
    case .name, .description, .visibility, .address, .phoneNumber, .snippet, .drawOrder, .when,
      .begin, .end, .styleUrl, .key, .color, .width, .fill, .href, .value, .simpleData,
      .longitude, .latitude, .altitude, .coordinates, .coord, .altitudeMode, .tessellate, .extrude,
      .north, .south, .east, .west, .oldField:
      true
    default: false
    }
  }
}

/// Finds the tag of a name by the name's pointer, which the parser keeps unique.
struct KMLTagTable {
  private struct Slot {
    var local: UnsafePointer<UInt8>?
    var uri: UnsafePointer<UInt8>?
    var prefix: UnsafePointer<UInt8>?
    var tag = KMLTag.other
  }

  private var slots = [Slot](repeating: Slot(), count: 256)

  mutating func tag(of name: XMLName) -> KMLTag {
    let hash = (UInt(bitPattern: name.local) >> 2) ^ (UInt(bitPattern: name.local) >> 9)
    let index = Int(hash & 255)
    let slot = slots[index]
    if slot.local == name.local, slot.uri == name.uri, slot.prefix == name.prefix {
      return slot.tag
    }
    let tag =
      Self.isKML(name) ? KMLTag(rawValue: String(cString: name.local)) ?? .other : .other
    slots[index] = Slot(local: name.local, uri: name.uri, prefix: name.prefix, tag: tag)
    return tag
  }

  /// Whether a name is in a namespace of KML or of Google's additions, or in none. Files that use
  /// `gx:` without declaring it are common.
  private static func isKML(_ name: XMLName) -> Bool {
    guard let uri = name.uri else {
      return name.prefix.map { $0.equals("gx") || $0.equals("kml") } ?? true
    }
    let address = String(cString: uri)
    return address.contains("/kml/") || address.hasSuffix("/kml")
  }
}
