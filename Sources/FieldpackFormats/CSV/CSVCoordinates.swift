import FieldpackCore

/// Finds the columns of coordinates by the names that they have in several languages.
struct CSVCoordinates {
  /// A column of x or longitude, and one of y or latitude.
  typealias Pair = (x: Int, y: Int)

  private(set) var wkt: [Int] = []
  /// The columns whose names say longitude, and those that say latitude.
  private(set) var degrees: (x: [Int], y: [Int]) = ([], [])
  /// The columns whose names say x or easting, and those that say y or northing.
  private(set) var plane: (x: [Int], y: [Int]) = ([], [])

  private static let wktNames: Set<String> = [
    "wkt", "geometry", "geom", "thegeom", "wkb", "wkbgeometry", "geomwkt", "wktgeom",
  ]
  private static let longitudes: Set<String> = [
    "lon", "lng", "long", "longitude", "longitud", "longitudine", "langengrad", "laengengrad",
    "geolange", "geolaenge", "geographischelange", "geographischelaenge",
  ]
  private static let latitudes: Set<String> = [
    "lat", "latitude", "latitud", "latitudine", "breitengrad", "geobreite", "geographischebreite",
  ]
  private static let eastings: Set<String> = [
    "x", "easting", "eastings", "coordx", "xcoord", "xcoordinate", "coordinatex", "coordonneex",
    "coordenadax", "coordinatax", "xkoordinate", "koordinatex", "utmx", "xutm", "utmeasting",
    "rechtswert", "ostwert", "xl93", "xlambert93",
  ]
  private static let northings: Set<String> = [
    "y", "northing", "northings", "coordy", "ycoord", "ycoordinate", "coordinatey", "coordonneey",
    "coordenaday", "coordinatay", "ykoordinate", "koordinatey", "utmy", "yutm", "utmnorthing",
    "hochwert", "nordwert", "yl93", "ylambert93",
  ]
  /// What may stand around a name of degrees.
  private static let prefixes = ["decimal", "gps", "geo", "wgs84", "coord"]
  private static let suffixes = ["degrees", "decimal", "deg", "dd", "wgs84", "gps"]

  init(_ names: [String]) {
    for (field, name) in names.enumerated() {
      let plain = Self.plain(name)
      if Self.wktNames.contains(plain) { wkt.append(field) }
      if Self.isDegrees(plain, Self.longitudes) { degrees.x.append(field) }
      if Self.isDegrees(plain, Self.latitudes) { degrees.y.append(field) }
      if Self.eastings.contains(plain) { plane.x.append(field) }
      if Self.northings.contains(plain) { plane.y.append(field) }
    }
  }

  /// Whether the two names say that the coordinates are degrees.
  static func areDegrees(_ x: String, _ y: String) -> Bool {
    isDegrees(plain(x), longitudes) && isDegrees(plain(y), latitudes)
  }

  private static func isDegrees(_ plain: String, _ names: Set<String>) -> Bool {
    names.contains(plain)
      || prefixes.contains {
        plain.hasPrefix($0) && names.contains(String(plain.dropFirst($0.count)))
      }
      || suffixes.contains {
        plain.hasSuffix($0) && names.contains(String(plain.dropLast($0.count)))
      }
  }

  /// The name without case, accents and signs.
  private static func plain(_ name: String) -> String {
    TextFolding.accents(TextFolding.cases(name)).filter { $0.isLetter || $0.isNumber }
  }

  // MARK: Columns that may be coordinates

  /// Words for the two directions that are also other words, such as length and width in German.
  private static let xWords = longitudes.union(eastings)
    .union(["lange", "laenge", "est", "ost", "este"])
  private static let yWords = latitudes.union(northings).union(["breite", "nord", "norte"])

  /// Pairs of columns that may be coordinates: their names differ in one word, which says x in the
  /// one and y in the other.
  static func candidates(in names: [String]) -> [Pair] {
    let words = names.map(words)
    func rests(_ field: Int, without known: Set<String>) -> [[String]] {
      words[field].indices.filter { known.contains(words[field][$0]) }.map { index in
        var rest = words[field]
        rest[index] = ""
        return rest
      }
    }
    var found: [Pair] = []
    for x in names.indices {
      let wanted = rests(x, without: xWords)
      guard !wanted.isEmpty else { continue }
      let partner = names.indices.first { y in
        y != x && rests(y, without: yWords).contains { wanted.contains($0) }
      }
      if let partner { found.append((x, partner)) }
    }
    return found
  }

  private static func words(_ name: String) -> [String] {
    var words: [String] = []
    var word = ""
    var wasLower = false
    for character in TextFolding.accents(name) {
      let isPart = character.isLetter || character.isNumber
      if !isPart || wasLower && character.isUppercase {
        if !word.isEmpty { words.append(word) }
        word = ""
      }
      if isPart { word += character.lowercased() }
      wasLower = character.isLowercase
    }
    return word.isEmpty ? words : words + [word]
  }

  /// The first field that reads like WKT.
  static func wktField(in row: [String]) -> Int? {
    let starts = ["POINT", "LINESTRING", "POLYGON", "MULTI", "GEOMETRYCOLLECTION", "SRID="]
    return row.firstIndex { text in
      let start = text.prefix(20).uppercased()
      return starts.contains(where: start.hasPrefix) && text.contains("(") && text.contains(")")
    }
  }
}
