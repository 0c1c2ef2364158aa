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
      | CSV (RFC 4180) | `.csv`, `.tsv` | yes | yes | one |
      | NMEA 0183 | `.nmea`, `.nma` | yes | no | many |
      | IGC (flight recorders) | `.igc` | yes | no | many |
      | TCX (Training Center) | `.tcx` | yes | no | many |
      | SVG, a map of the layers | `.svg` | no | yes | many |
      | HTML, a page with that map | `.html`, `.htm` | no | yes | many |

      A format is known by a file's contents, then by its extension. Files are read as streams: memory
      does not grow with their size, except for GPX and logs, where it grows with the longest track.

      ### Ids

      Where every feature of a GeoJSON file has a distinct integer `id`, these become the feature ids. All
      other ids go to a TEXT column `id`. Export writes that column, else the feature id, as `id`; the key
      tuple only on demand.

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
      vertex has one, M the time in Unix seconds likewise. Leaves of `extensions` are columns such as
      `gpxtpx_hr`, their XML is in `extensions`.

      What is written passes the schema of GPX 1.1. Points are `wpt`, lines are `trk`; a layer with
      `track_fid` and `track_seg_id` becomes the points of the tracks beside it. Columns named like an
      element are that element, all others are extensions in the namespace `https://fieldpack.dev/gpx/1`.
      Times are UTC.

      PhotoPath's dialect (`--gpx-dialect photopath`) has points alone, as `wpt` of six decimals with their
      time in whole seconds. It is what that app and Xcode read; it has no namespace and passes no schema.

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

      The geometry is in a column `wkt`, `geometry` or `geom`, or in two named `lon`, `lng`, `longitude` or
      `x` and `lat`, `latitude` or `y`. The delimiter is found among comma, semicolon and tab. A column is
      INTEGER, REAL, BOOLEAN, DATE or DATETIME where every value is one; `007` and `+49` stay text.
      """)
}
