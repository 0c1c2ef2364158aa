import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import Testing

@Suite struct CSVCoordinatesTests {
  static let degrees = [
    "lat,long", "latitude_deg,longitude_deg", "LATITUDE,LONGITUDE", "Latitud,Longitud",
    "latitudine,longitudine", "Breitengrad,Längengrad", "Breitengrad,Laengengrad",
    "geoBreite,geoLaenge", "lat_wgs84,long_wgs84", "decimalLatitude,decimalLongitude",
    "gps_lat,gps_lng", "Geographische Breite,Geographische Länge",
  ]

  @Test(arguments: degrees) func `names of longitude and latitude are WGS 84`(
    header: String
  ) throws {
    let reading = try readCSV("\(header)\n2,1\n")
    #expect(reading.features("test").map(\.geometry) == [.point(x: 1, y: 2)])
    #expect(reading.schema("test")?.geometry?.srs == .wgs84)
    #expect(reading.result.notes == [])
  }

  static let plane = [
    "X,Y", "Easting,Northing", "Utmx,Utmy", "x_l93,y_l93", "Rechtswert,Hochwert",
    "coordenada_x,coordenada_y", "Coordonnée X,Coordonnée Y", "coord_x,coord_y",
    "Ostwert,Nordwert", "X Coordinate,Y Coordinate",
  ]

  @Test(arguments: plane) func `names of easting and northing are in the SRS given`(
    header: String
  ) throws {
    let reading = try readCSV("\(header)\n1,2\n") { $0.sourceSRS = SRS("EPSG", 25830) }
    #expect(reading.features("test").map(\.geometry) == [.point(x: 1, y: 2)])
    #expect(reading.schema("test")?.geometry?.srs == SRS("EPSG", 25830))
    #expect(
      try readCSV("\(header)\n1,2\n").result.notes == [
        Note("the file does not say its reference system", advice: .nameSourceSRS)
      ])
  }

  @Test func `degrees are taken before other coordinates, which stay columns`() throws {
    let reading = try readCSV("x;y;long;lat\n1049409.0;6838286.4;7.5;48.5\n")
    #expect(reading.features("test").map(\.geometry) == [.point(x: 7.5, y: 48.5)])
    #expect(reading.columns("test") == ["x REAL", "y REAL"])
    #expect(
      reading.result.notes == ["the geometry is that of 'long' and 'lat'; 'x' and 'y' are columns"])
    #expect(
      CSVReaderTests.failure("x,y,long,lat\n") { $0.sourceSRS = SRS("EPSG", 2154) }
        == "invalidArgument 1 more than one column may hold the geometry: 'long', 'lat', 'x', 'y' "
        + "nameGeometryColumns")
  }

  @Test func `a column wkt is taken before coordinates, as they are written`() throws {
    let reading = try readCSV("lon,lat,wkt\n3,4,POINT(1 2)\n")
    #expect(reading.features("test").map(\.geometry) == [.point(x: 1, y: 2)])
    #expect(reading.columns("test") == ["lon INTEGER", "lat INTEGER"])
    #expect(
      reading.result.notes == [
        "the geometry is that of 'wkt'; 'lon' and 'lat' are columns",
        Note("the file does not say its reference system", advice: .nameSourceSRS),
      ])
  }

  static let candidates: [(String, String, FieldpackError.Advice?)] = [
    (
      "start_lat,start_lng,n",
      "the layer has no geometry; columns 'start_lng' and 'start_lat' may be coordinates",
      .nameCoordinates(x: "start_lng", y: "start_lat")
    ),
    (
      "Breite,Länge,n",
      "the layer has no geometry; columns 'Länge' and 'Breite' may be coordinates",
      .nameCoordinates(x: "Länge", y: "Breite")
    ),
    (
      "startLat,startLng,end lat,end lng",
      "the layer has no geometry; columns 'startLng' and 'startLat', or 'end lng' and 'end lat' may "
        + "be coordinates", .nameCoordinates(x: "startLng", y: "startLat")
    ),
    (
      "shape,n", "the layer has no geometry; column 'shape' may hold it", .nameWKTColumn("shape")
    ),
    ("x_ray,lat,n", "", nil), ("length,width", "", nil),
  ]

  @Test(arguments: candidates.indices) func `a layer without geometry says which columns may be it`(
    index: Int
  ) throws {
    let (header, note, advice) = Self.candidates[index]
    let fields = header.split(separator: ",").count
    let row =
      header.hasPrefix("shape")
      ? "POINT (1 2),1"
      : Array(repeating: "1", count: fields)
        .joined(separator: ",")
    let reading = try readCSV("\(header)\n\(row)\n")
    #expect(reading.schema("test")?.geometry == nil)
    #expect(reading.result.notes == (note.isEmpty ? [] : [Note(note, advice: advice)]))
  }

  @Test(arguments: ["geom", "the_geom", "wkb_geometry", "wkb"])
  func `WKB in hexadecimal is a geometry`(column: String) throws {
    // Little-endian EWKB with SRID 25833, and ISO WKB, big-endian.
    let extended = "0101000020E9640000000000000000F03F0000000000000040"
    let plain = "00000000013FF00000000000004000000000000000"
    let reading = try readCSV("\(column),n\n\(extended),1\n\(plain.lowercased()),2\n,3\n")
    #expect(
      reading.features("test").map(\.geometry) == [.point(x: 1, y: 2), .point(x: 1, y: 2), nil])
    #expect(reading.schema("test")?.geometry?.srs == SRS("EPSG", 25833))
  }
}
