import FieldpackGeometry
import Testing

@testable import FieldpackGeoPackage

/// Which reference system a row of `gpkg_spatial_ref_sys` means.
@Suite struct SystemIdentityTests {
  private static let parts = """
    GEOGCS["a",DATUM["d",SPHEROID["s",6378137,298,AUTHORITY["EPSG","7030"]]],\
    AUTHORITY["EPSG","4167"]]
    """

  private static let texts: [(wkt: String, code: Int32?)] = [
    (#"PROJCS["NZGD2000",\#(parts),UNIT["metre",1],AUTHORITY["EPSG","2193"]]"#, 2193),
    (#"PROJCS["no code",\#(parts),UNIT["metre",1]]"#, nil),
    (#"PROJCS ( "x" , AUTHORITY [ "epsg" , "2193" ] )"#, 2193),
    (#"PROJCRS["NZGD2000",BASEGEOGCRS["x",ID["EPSG",4167]],ID["EPSG",2193]]"#, 2193),
    (#"PROJCRS["x",ID["ESRI",102100]]"#, nil),
    (#"PROJCS["AUTHORITY[""EPSG"",""1""]",UNIT["metre",1]]"#, nil),
    (#"PROJCS["x",AUTHORITY["EPSG","many"]]"#, nil), (#"PROJCS["x",AUTHORITY["EPSG""#, nil),
    ("undefined", nil), ("", nil),
  ]

  @Test(arguments: texts)
  func `WKT tells the code of the system as a whole`(wkt: String, code: Int32?) {
    #expect(SRS.epsg(inWKT: wkt)?.code == code)
  }

  private static let rows: [(SystemIdentity, SRS)] = [
    (row(-1, "NONE", "undefined"), .undefinedCartesian),
    (row(0, "NONE", "undefined"), .undefinedGeographic),
    (row(99999, "GDAL", local, name: "Undefined SRS"), .undefinedCartesian),
    (row(99999, "NONE", local, name: "Undefined SRS"), .undefinedCartesian),
    (row(99999, "NONE", local, name: "Site"), SRS("NONE", 99999)),
    (row(5, "none", "undefined"), .undefinedCartesian),
    (row(2193, "LINZ", texts[0].wkt), SRS("EPSG", 2193)),
    (row(7, "EPSG", texts[0].wkt), SRS("EPSG", 7)),
    (row(7, "LINZ", texts[1].wkt), SRS("LINZ", 7)),
  ]

  private static let local = #"LOCAL_CS["x",UNIT["unknown",0]]"#

  private static func row(
    _ id: Int64, _ organization: String, _ wkt: String, name: String = "x"
  ) -> SystemIdentity {
    SystemIdentity(
      id: id, name: name, organization: organization, code: id, definition: wkt)
  }

  @Test(arguments: rows.indices)
  func `a row means the system that it defines`(index: Int) {
    #expect(Self.rows[index].0.srs == Self.rows[index].1)
  }
}
