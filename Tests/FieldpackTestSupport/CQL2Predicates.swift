/// Conditions in CQL2 that the official tests ask for, or stand for them.
public enum CQL2Predicates {
  /// The predicates about countries of annex A of OGC 21-065, with how many of Natural Earth's countries
  /// they find.
  public static let countries: [(predicate: String, count: Int)] = [
    ("S_INTERSECTS(geom,BBOX(0,40,10,50))", 8),
    ("S_INTERSECTS(geom,BBOX(150,-90,-150,90))", 10),
    ("S_INTERSECTS(geom,POINT(7.02 49.92))", 1),
    ("\(box) and S_INTERSECTS(geom,BBOX(5,50,10,60))", 3),
    ("\(box) and not S_INTERSECTS(geom,BBOX(5,50,10,60))", 5),
    ("\(box) or S_INTERSECTS(geom,BBOX(-90,40,-60,50))", 10),
    ("S_INTERSECTS(geom,LINESTRING(-180 -45, 0 -45))", 2),
    ("S_INTERSECTS(geom,MULTILINESTRING((-180 -45, 0 -45), (0 45, 180 45)))", 14),
    ("S_INTERSECTS(geom,POLYGON(\(west)))", 8),
    ("S_INTERSECTS(geom,MULTIPOLYGON((\(west)),((0 0, 10 0, 10 10, 0 10, 0 0))))", 15),
    (
      "S_INTERSECTS(geom,GEOMETRYCOLLECTION(POINT(7.02 49.92), "
        + "POLYGON((0 0, 10 0, 10 10, 0 10, 0 0))))", 8
    ),
    (
      "S_INTERSECTS(geom,POLYGON(\(west))) "
        + "or S_INTERSECTS(geom,POLYGON((0 0, 10 0, 10 10, 0 10, 0 0)))", 15
    ),
    (
      "S_INTERSECTS(geom,POLYGON(\(west))) "
        + "and not S_INTERSECTS(geom,POLYGON((-130 0, 0 0, 0 50, -130 50, -130 0)))", 3
    ),
    ("S_INTERSECTS(geom,POLYGON((0 40,10 40,10 50,0 50,0 40)))", 8),
    ("S_INTERSECTS(geom,LINESTRING(0 40,10 50))", 4),
    ("S_DISJOINT(geom,BBOX(0,40,10,50))", 169),
    ("S_DISJOINT(geom,POLYGON((0 40,10 40,10 50,0 50,0 40)))", 169),
    ("S_DISJOINT(geom,LINESTRING(0 40,10 50))", 173),
    ("S_DISJOINT(geom,POINT(7.02 49.92))", 176),
    ("S_TOUCHES(geom,POLYGON((\(luxembourg))))", 3),
    ("S_TOUCHES(geom,POINT(6.043073357781111 50.128051662794235))", 3),
    ("S_TOUCHES(geom,POINT(6.242751092156993 49.90222565367873))", 2),
    (
      "S_TOUCHES(geom,LINESTRING(6.043073357781111 50.128051662794235,"
        + "6.242751092156993 49.90222565367873))", 3
    ),
    ("S_WITHIN(geom,BBOX(-180,-90,0,90))", 44), ("S_CONTAINS(geom,BBOX(7,50,8,51))", 1),
    ("S_CONTAINS(geom,LINESTRING(7 50,8 51))", 1), ("S_CONTAINS(geom,POINT(7.02 49.92))", 1),
    ("S_OVERLAPS(geom,BBOX(-180,-90,0,90))", 11),
  ]

  private static let box = "S_INTERSECTS(geom,BBOX(0,40,10,50))"
  private static let west =
    "(-180 -90, -90 -90, -90 90, -180 90, -180 -90), "
    + "(-120 -50, -100 -50, -100 -40, -120 -40, -120 -50)"
  private static let luxembourg =
    "6.043073357781111 50.128051662794235,6.242751092156993 49.90222565367873,"
    + "6.186320428094177 49.463802802114515,5.897759230176348 49.44266714130711,"
    + "5.674051954784829 49.529483547557504,5.782417433300907 50.09032786722122,"
    + "6.043073357781111 50.128051662794235"

  /// Conditions on 20 wells on a line, whose names, depths and days are known, with the ids they find.
  public static let wells: [(filter: String, ids: [Int64])] = [
    ("true", Array(1...20)), ("false", []), ("NOT false", Array(1...20)),
    ("depth IS NULL", [1, 6, 11, 16]), ("depth IS NULL AND depth IS NOT NULL", []),
    ("geom IS NULL", [20]), ("depth=3", [4, 18]), ("depth<>3 AND fid<5", [2, 3]),
    ("fid<2", [1]), ("fid<=2", [1, 2]), ("fid>19", [20]), ("fid>=20", [20]),
    ("name='well 7'", [8]), ("CASEI(name)=CASEI('WELL 7')", [8]),
    ("name LIKE 'well 1_'", Array(11...20)),
    ("seen<TIMESTAMP('1970-01-02T00:00:00Z')", [1]),
    ("seen=TIMESTAMP('1970-01-03T00:00:00Z')", [3]),
    ("depth BETWEEN 5 AND 6", [7, 13, 14, 20]), ("name IN ('well 1','well 3')", [2, 4]),
    ("S_INTERSECTS(geom,BBOX(17,0,-170,90))", [18, 19]),
    ("S_INTERSECTS(geom,BBOX(170,0,2,90))", [1, 2, 3]), ("depth*2=6", [4, 18]),
    ("T_AFTER(seen,DATE('1970-01-19'))", [20]),
  ]

  /// Positions that are none, and what cannot be read.
  public static let mistakes = [
    "S_INTERSECTS(geom,POINT(90 180))", "S_WITHIN(geom,POLYGON((0 0,1 0,1 91,0 0)))",
    "NOT (fid=1 OR S_INTERSECTS(geom,POINT(0 -90.5)))", "depth>", "nothing=1", "S_BUFFER(geom)",
  ]
}
