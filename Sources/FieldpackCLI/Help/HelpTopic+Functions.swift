extension HelpTopic {
  static let functions = HelpTopic(
    name: "functions", abstract: "Functions on geometries in SQL.",
    article: "GeometryFunctions",
    markdown: """
      ```sql
      SELECT name, ST_GeodesicArea(geom) FROM parcels WHERE ST_DWithin(geom, ST_Point(7, 47, 4326), 1);
      SELECT kind, ST_AsText(ST_Union(geom)) FROM parcels GROUP BY kind;
      ```

      ### Rules

      - NULL among the geometries gives NULL. So does an empty geometry in relations and distances.
      - A value that is no geometry, and an operation that GEOS or PROJ cannot do, end the statement with an error.
      - Two geometries must have one `srs_id`; the undefined ones, -1 and 0, fit every other. The geodesic functions
        take geometries of different systems.
      - Curves are linearised, and m is dropped, wherever a geometry is made or related. `ST_AsText`,
        `ST_Transform` and `ST_SetSRID` keep both.
      - A geometry that is constant in the statement, or the same from row to row, is prepared once.
      - Names, and counts of arguments, that are not in this table are SpatiaLite's functions; see below.

      ### Functions

      `g`, `a` and `b` are geometries, `srs` is an `srs_id` of the file (else a code of EPSG).

      | Function | Gives | Notes |
      | --- | --- | --- |
      | `ST_GeomFromText(text[, srs])` | geometry | WKT and EWKT; srs is 0 where nothing says it |
      | `ST_GeomFromWKB(blob[, srs])` | geometry | ISO WKB and EWKB |
      | `ST_Point(x, y[, srs])` | geometry | |
      | `ST_MakeEnvelope(minx, miny, maxx, maxy[, srs])` | geometry | the box as a polygon |
      | `ST_AsText(g[, decimals])` | text | WKT with `Z`, `M` and `ZM` |
      | `ST_AsBinary(g)` | blob | WKB |
      | `ST_SRID(g)`, `ST_SetSRID(g, srs)` | integer, geometry | positions stay as they are |
      | `ST_Transform(g, srs)` | geometry | srs may be a text such as `'EPSG:25833'` |
      | `ST_GeometryType(g)` | text | `POINT`, `MULTIPOLYGON` … |
      | `ST_CoordDim(g)`, `ST_Is3D(g)`, `ST_IsMeasured(g)` | integer | |
      | `ST_NPoints(g)` | integer | positions, the repeated last one of a ring included |
      | `ST_Dimension(g)` | integer | 0 points, 1 lines, 2 surfaces; the highest in a collection |
      | `ST_NumGeometries(g)`, `ST_GeometryN(g, n)` | integer, geometry | a single geometry is its own first |
      | `ST_NumInteriorRings(g)`, `ST_InteriorRingN(g, n)`, `ST_ExteriorRing(g)` | integer, geometry | of a polygon; NULL for others |
      | `ST_NRings(g)` | integer | of all polygons |
      | `ST_NumPoints(g)`, `ST_PointN(g, n)` | integer, geometry | of a line; n below 0 counts from its end |
      | `ST_StartPoint(g)`, `ST_EndPoint(g)` | geometry | of a line |
      | `ST_IsClosed(g)`, `ST_IsRing(g)` | 1 or 0 | lines that end where they begin; without crossing itself, of one line |
      | `ST_X(g)`, `ST_Y(g)`, `ST_Z(g)`, `ST_M(g)` | number | of a point; NULL for others |
      | `ST_MinX(g)`, `ST_MaxX(g)`, `ST_MinY(g)`, `ST_MaxY(g)`, `ST_IsEmpty(g)` | number | from the header where it tells |
      | `ST_Envelope(g)` | geometry | the box as a polygon |
      | `ST_Force2D(g)`, `ST_Multi(g)`, `ST_CurveToLine(g)` | geometry | |
      | `ST_Area(g)`, `ST_Perimeter(g)` | number | of polygons; units of the system |
      | `ST_Length(g)` | number | of lines |
      | `ST_GeodesicArea(g)` | number | square metres on the ellipsoid, whatever the direction of rings |
      | `ST_GeodesicPerimeter(g)`, `ST_GeodesicLength(g)` | number | metres |
      | `ST_Distance(a, b)` | number | shortest distance in the plane |
      | `ST_DWithin(a, b, distance)` | 1 or 0 | no more than that lies between both |
      | `ST_GeodesicDistance(a, b)` | number | metres; see below |
      | `ST_GeodesicDWithin(a, b, metres)` | 1 or 0 | |
      | `ST_Intersects`, `ST_Disjoint`, `ST_Within`, `ST_Contains`, `ST_Covers`, `ST_CoveredBy`, `ST_Touches`, `ST_Crosses`, `ST_Overlaps`, `ST_Equals` `(a, b)` | 1 or 0 | exact, DE-9IM |
      | `ST_Relate(a, b)` | text | the DE-9IM matrix |
      | `ST_Relate(a, b, pattern)` | 1 or 0 | whether the matrix fits, such as `'T*F**F***'` |
      | `ST_IsValid(g)`, `ST_IsSimple(g)` | 1 or 0 | |
      | `ST_IsValidReason(g)` | text | `Valid Geometry`, or the reason and where |
      | `ST_Centroid(g)`, `ST_PointOnSurface(g)` | geometry | |
      | `ST_ConvexHull(g)`, `ST_Boundary(g)` | geometry | |
      | `ST_Buffer(g, distance[, segments])` | geometry | 8 segments a quarter circle; more than one degree is noted |
      | `ST_GeodesicBuffer(g, metres[, segments])` | geometry | on the ellipsoid, up to 1,000 km |
      | `ST_Simplify(g, tolerance)` | geometry | Douglas-Peucker; rings may vanish or cross |
      | `ST_SimplifyPreserveTopology(g, tolerance)` | geometry | |
      | `ST_MakeValid(g)` | geometry | |
      | `ST_Union(a, b)`, `ST_Intersection(a, b)`, `ST_Difference(a, b)`, `ST_SymDifference(a, b)` | geometry | |
      | `ST_UnaryUnion(g)` | geometry | the members melted into one |
      | `ST_ClosestPoint(a, b)`, `ST_ShortestLine(a, b)` | geometry | in the plane; on `a`, from `a` to `b` |
      | `ST_Union(g)`, `ST_Collect(g)`, `ST_Extent(g)` | geometry | over a group; NULL where it has no geometry |

      The relations, and the functions from `ST_Dimension` to `ST_IsRing`, are known without `ST_` as well. As a condition by itself, with the geometry column first
      and joined to others by `AND`, each but `ST_Disjoint` finds its features by the layer's R-tree, in joins
      too; `fieldpack sql --explain` tells whether it does. `main.` before a table's name keeps it from that.
      """)
}
