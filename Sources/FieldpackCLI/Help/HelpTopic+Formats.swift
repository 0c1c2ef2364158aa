extension HelpTopic {
  static let formats = HelpTopic(
    name: "formats", abstract: "Formats of files, and what becomes of ids and columns.",
    article: "Formats",
    markdown: """
      | Format | Extensions | Read | Written | Layers in a file |
      | --- | --- | --- | --- | --- |
      | GeoPackage 1.0 to 1.4 | `.gpkg` | yes | 1.2, 1.3, 1.4 | many |
      | GeoJSON (RFC 7946) | `.geojson`, `.json` | yes | yes | one |
      | GeoJSON, one feature a line or RFC 8142 | `.geojsonl`, `.geojsons`, `.ndjson` | yes | yes | one |
      | GPX 1.0, 1.1 | `.gpx` | yes | 1.1 | many |
      | KML 2.0 to 2.3 | `.kml` | yes | 2.2 | many |
      | KMZ | `.kmz` | yes | yes | many |
      | CSV (RFC 4180) | `.csv`, `.tsv` | yes | yes | one |
      | Shapefile | `.shp`, `.dbf`, `.zip` | yes | yes | one; many in a `.zip` that is read |
      | FlatGeobuf 3 | `.fgb` | yes | yes | one |
      | NMEA 0183 | `.nmea`, `.nma` | yes | no | many |
      | IGC (flight recorders) | `.igc` | yes | no | many |
      | TCX (Training Center) | `.tcx` | yes | no | many |
      | SVG, a map of the layers | `.svg` | no | yes | many |
      | HTML, a page with that map | `.html`, `.htm` | no | yes | many |

      A format is known by a file's contents, then by its extension. Files are read as streams: memory
      does not grow with their size, except for GPX and logs, where it grows with the longest track.

      A file of these formats that gzip has packed (`walk.gpx.gz`) is read as what it holds; a GeoPackage has to be
      unpacked first. What unpacks to more than 300 times its size, and to more than 64 MiB, is refused.

      ### Ids

      Where every feature of a GeoJSON file has a distinct integer `id`, these become the feature ids. All
      other ids go to a TEXT column `id`. Export writes that column, else the feature id, as `id`; the key
      tuple only on demand.

      QGIS writes the ids of a GeoPackage as a property `fid`. Where no feature has an `id`, and every one
      has another integer there, these are the feature ids, and GeoJSON has them as that property again. In
      a layer that exists, or that several files go into, the property is a column `fid_2`.

      ### Columns of GeoJSON

      Types are inferred over the whole file.

      | Values | Column |
      | --- | --- |
      | integers of 64 bits | INTEGER |
      | numbers, integers among them or not | REAL |
      | `true` and `false` | BOOLEAN |
      | all dates | DATE |
      | all with date, time and zone, at most three fraction digits | DATETIME, stored in UTC |
      | nested objects and arrays | TEXT marked as `application/json`, nested again on export |
      | anything else, and mixtures | TEXT, numbers in the digits of the source |

      A name that equals an earlier one but for case gets `_2`; this is reported.

      ### Geometry

      The geometry type of a new layer is the one kind that occurs; the Multi kind where single and multi
      occur, singles being promoted; GEOMETRY otherwise. It has Z where any feature has. GeoJSON is WGS 84
      and is written as such, polygons by the right-hand rule; other reference systems are transformed on
      the way out. Curves of a GeoPackage are kept as they are and written as lines elsewhere.

      ### GPX

      Layers and columns have the names that GDAL gives them: `waypoints`, `routes`, `tracks`,
      `route_points` and `track_points`; only those with features are there. Z is the elevation where every
      vertex has one, M the time in Unix seconds likewise. A `trkseg` without points is an EMPTY line of its
      track, and is written again. Leaves of `extensions` are columns such as `gpxtpx_hr`, their XML is in
      `extensions`. A `wpt` inside of a track is a waypoint.

      What the file says of itself (`metadata`: name, author, description, links, copyright, keywords) is in
      the metadata tables of the GeoPackage, for all of its layers, and stands in an exported GPX file
      again. The bounds are left out, and so are the metadata of several files that one would be written from.

      What is written passes the schema of GPX 1.1. Points are `wpt`, lines are `trk`; a layer with
      `track_fid` and `track_seg_id` becomes the points of the tracks beside it. Columns named like an
      element are that element, all others are extensions in the namespace `https://fieldpack.dev/gpx/1`.
      Times are UTC.

      PhotoPath's dialect (`--gpx-dialect photopath`) has points alone, as `wpt` of six decimals with their
      time in whole seconds. It is what that app and Xcode read; it has no namespace and passes no schema.

      ### KML

      Each document or folder with features is a layer of its name. Columns have the names that GDAL's driver LIBKML
      gives them (`Name`, `description`, `timestamp`, `begin`, `end`, `altitudeMode`, `visibility`, …); only those with
      a value are there. Extended data are columns, typed by their schema, else TEXT. Colours of styles are in
      `stroke`, `stroke-opacity`, `stroke-width`, `fill`, `fill-opacity` and `marker-color`. Z is the altitude; M of a
      `gx:Track` is the time in Unix seconds. A model is the point where it stands, a ground overlay the polygon that it
      covers, without its rotation. Other overlays and network links are counted in notes: nothing is fetched.

      What is written is KML 2.2 in WGS 84: a document for each layer, with a schema for the columns that KML has no element
      for. Columns named like those above become the elements and styles again. A line whose M ascend and are Unix seconds
      from 1990 to 2100 is a `gx:Track` with these times, several are a `gx:MultiTrack`; other M is left out. A KMZ
      holds that document as `doc.kml`; of a KMZ the `doc.kml` is read, else the first entry that ends in `.kml`.

      ### Logs

      The fixes of NMEA, IGC and TCX logs are tracks, in the layers and columns that a GPX file has:
      `tracks` and `track_points`, and `waypoints` where there are some. What the formats have beyond GPX
      are columns of their own.

      | Format | A track is | Columns beyond those of GPX |
      | --- | --- | --- |
      | NMEA | the whole file | `quality` (of GGA), `accuracy` in metres (of GST), `time_of_day` |
      | IGC | the flight | `pressure_altitude`, the codes of the I record (`fxa`, `enl` …); of the track `pilot`, `glider_type`, `glider_id`, `competition_id`, `recorder` |
      | TCX | an activity or a course | `distance`, `heart_rate`, `cadence`, `run_cadence`, `power`, `sensor_state` |

      - NMEA: sentences of one moment make one fix, whoever talks. Dates come from RMC and ZDA and hold for
        the fixes before and after, past midnight; a file without any has `time_of_day` alone. Two digits
        of a year from 80 are of the last century.
      - IGC: `ele` is the GNSS altitude, `fix` is `3d` for a record marked A and `2d` for V; LAD, LOD and TDS
        make positions and times finer, SIU is `sat` and TRT is `course`. Tasks, events and security
        records are not read.
      - TCX: each `Track` is a segment, course points are waypoints. The totals of laps are not read, and
        points without a position are left out with a note.

      A wrong checksum, a record that is cut and a position that is not on Earth are errors with their line.

      ### CSV

      The geometry is in one column or in two, found by their names whatever their case and signs:

      | Names | Read as |
      | --- | --- |
      | `wkt`, `geometry`, `geom`, `the_geom`, `wkb`, `wkb_geometry` | WKT, EWKT, or WKB and EWKB in hexadecimal |
      | `lon`, `lng`, `long`, `longitude`, `longitud`, `longitudine`, `Längengrad` with `lat`, `latitude`, `latitud`, `latitudine`, `Breitengrad`; also as `longitude_deg`, `long_wgs84`, `decimalLongitude`, `gps_lon` | degrees in WGS 84 |
      | `x`, `easting`, `coord_x`, `coordenada_x`, `utmx`, `x_l93`, `Rechtswert`, `Ostwert` with `y`, `northing` and so on | coordinates in the SRS of `--source-srs` |

      A column `wkt` is taken before coordinates, and degrees are taken before others, with a note; any other
      choice is an error that names `--x`, `--y` and `--wkt`. A
      layer that gets no geometry says which columns may hold it.

      What the file does not say is found where its beginning leaves no doubt, and said in a note:

      - **Delimiter** (`--delimiter`): comma, semicolon, tab or `|`, or what Excel's line `sep=;` says.
      - **Decimal sign** (`--decimal`): a comma where the delimiter is none, no number has a point, and one
        cannot be thousands: `1,5`, but not `1,500`.
      - **Encoding** (`--encoding`, by iconv's names): UTF-8, UTF-16 with its mark, and Windows-1252 where all
        letters are German, French, Spanish, Italian or Portuguese.
      - **Dates** (`--date-format`) are those of ISO 8601, and in the form given, such as `%d.%m.%Y` or
        `%d/%m/%y %H:%M`. Such times are UTC.

      Coordinates of a layer in WGS 84 that are no longitudes and latitudes, as those of another system are, are
      kept and said in one note, in every format that can hold them.

      ### Shapefile

      The files beside the `.shp` belong to it, their extensions in any case: `.shx` tells where the shapes
      are, `.dbf` holds the attributes, `.prj` the reference system, `.cpg` the encoding of the texts. Without
      a `.cpg` the table's header tells the encoding, else it is ISO 8859-1. A `.dbf` alone is a layer of
      attributes. A `.zip` with one shapefile in it is read as that; of several, each is a layer with the name
      that it has there.

      - A `.shx` or `.dbf` that is missing or damaged is an error that names it. With `--skip-errors` shapes
        are read in the order of the `.shp`, and without attributes.
      - Numbers without decimals are INTEGER, others REAL; dates are DATE, logical values BOOLEAN. A number
        or a date that is none makes the column TEXT. Empty fields, asterisks and dates of zeros are NULL.
        Rows that are marked as deleted are left out.
      - Rings that run clockwise are polygons, the others are holes in the smallest polygon around them. A
        MultiPatch is the polygons of its faces. A measure below -10^38 is none.
      - The reference system is the one of PROJ's database that equals the `.prj`; where there is none the
        layer has none, with a note.

      What is written is the set `.shp .shx .dbf .prj .cpg`, in UTF-8; a layer without a geometry is a `.dbf`.
      Where the name ends in `.zip` (`wells.zip`, `wells.shp.zip`), the set is packed in that file.
      All geometries of a layer have to be of one kind: points, sets of points, lines or polygons, z and m
      with them. The first column is the feature id. Names are cut to ten bytes and told; a text of more than
      254 bytes is an error, and is cut with `--skip-errors`; empty texts are NULL, blobs are left out, a
      DATETIME is text. Curves become lines. No file may have more than 2 GiB.

      ### FlatGeobuf

      The header of the file tells the geometry type, the columns, their titles, and the reference system by an
      EPSG code or by WKT with one. A column of moments is DATETIME where each value has a zone, DATE where all are
      days, else TEXT unchanged. Unsigned 64-bit integers are REAL where one is too large for INTEGER. A column
      `fid`, whatever its case, of distinct integers gives the feature ids. TRIANGLE, TIN and POLYHEDRALSURFACE
      become POLYGON and MULTIPOLYGON of a GeoPackage. Columns are NOT NULL, unique and of a width as the header
      says, where all values of the file keep to it.

      A file that is written has an index, where a feature has a place, and its features follow a Hilbert curve.
      Integer feature ids become a first column `FID`, which GDAL makes the ids of a GeoPackage. The header has the
      layer's geometry type where all geometries are of it, and z or m where the layer declares it: positions without
      it get 0. Empty geometries are written as none, with a note.
      """)
}
