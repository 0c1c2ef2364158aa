import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

/// Every file of `real/gpx` and `real/gpx-bad`: counts by layer and the envelope of all layers.
///
/// Counts and envelopes equal GDAL's (`expected/gpx.json`) but where a comment says otherwise.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct GPXRealDataTests {
  static let good: [(String, String, String)] = [
    (
      "GPXTest-TrackPointOnly.gpx",
      "tracks 1 track_points 4142",
      "139.691162 35.631938 139.724039 35.677099"
    ),
    (
      "gb_bend-input.gpx",
      "routes 1 route_points 232",
      "-3.9666009 43.4399629 -3.7906265 43.4937787"
    ),
    (
      "gb_bike~gpx.gpx",
      "waypoints 2 tracks 1 track_points 1812",
      "-73.979990249 40.767231602 -73.953311993 40.799541911"
    ),
    ("gb_datalog.gpx", "tracks 1 track_points 500", "17.1044033 50.2159686 17.1751133 50.2290632"),
    (
      "gb_expertgps.gpx",
      "waypoints 86 routes 1 tracks 1 route_points 46 track_points 64",
      "-91.610567 30.045517 -71.102973 42.468655"
    ),
    (
      "gb_gis.osm_places_free_1.gpx",
      "waypoints 490",
      "-178.3342368 18.9541757 -154.8283694 28.4226458"
    ),
    (
      "gb_googletakeout.gpx",
      "waypoints 111 tracks 221 track_points 778",
      "-122.3919448 37.3956565 -94.358078 51.7943876"
    ),
    (
      "gb_height_out.gpx",
      "tracks 1 track_points 46",
      "6.222871869 50.827089869 6.245795987 50.865717758"
    ),
    (
      "gb_lowrance-v2.gpx",
      "waypoints 69 tracks 2 track_points 3258",
      "-86.429251477 41.413020718 -82.669998944 43.395332859"
    ),
    (
      "gb_mtk_logger_m241_multiple_tracks.gpx",
      "tracks 6 track_points 14263",
      "3.881955147 44.049926758 9.195883751 48.951343536"
    ),
    ("gb_sbn-v13.gpx", "tracks 1 track_points 3453", "4.2890388 51.9811701 4.4008791 52.0621117"),
    (
      "gb_skytraq-miniHomer2_8.gpx",
      "waypoints 4 tracks 1 track_points 8713",
      "8.672919344 51.720315292 8.739617344 51.742769577"
    ),
    (
      "gb_vitovtt-sample.gpx",
      "tracks 1 track_points 1866",
      "-74.6689216 40.23829 -74.6540533 40.2433"
    ),
    ("gh_gpxv1_0.gpx", "tracks 1 track_points 14", "12.360708 51.342784 12.36419 51.345371"),
    (
      "gh_issue-13.gpx",
      "tracks 1 track_points 29",
      "29.08910865 41.01107275 29.09170405 41.0119089"
    ),
    ("gh_no_trk.gpx", "", ""),
    ("gh_no_trkseg.gpx", "tracks 1", ""),
    (
      "gh_test2.gpx",
      "routes 1 tracks 1 route_points 1 track_points 2",
      "12.338217 51.37703 12.339166 51.377719"
    ),
    (
      "gh_tour-with-loop.gpx",
      "routes 1 tracks 1 route_points 11 track_points 11",
      "12.361337 51.342128 12.363246 51.344095"
    ),
    (
      "gh_tour2-with-loop.gpx",
      "routes 1 tracks 1 route_points 9 track_points 14",
      "12.360708 51.342784 12.36419 51.345371"
    ),
    (
      "gh_tour3-with-long-edge.gpx",
      "tracks 1 track_points 7",
      "12.356511 51.358007 12.360243 51.359723"
    ),
    ("gpxpy_Mojstrovka.gpx", "tracks 1 track_points 184", "13.738842 46.43035 13.748333 46.435641"),
    (
      "gpxpy_cerknicko-jezero-no-creator.gpx",
      "waypoints 7 tracks 8 track_points 296",
      "14.28863327 45.735199945 14.377516648 45.795349991"
    ),
    (
      "gpxpy_cerknicko-jezero-without-elevations.gpx",
      "waypoints 7 tracks 8 track_points 296",
      "14.28863327 45.735199945 14.377516648 45.795349991"
    ),
    (
      "gpxpy_cerknicko-without-times.gpx",
      "waypoints 7 tracks 8 track_points 296",
      "14.28863327 45.735199945 14.377516648 45.795349991"
    ),
    ("gpxpy_default_schema_locations.gpx", "", ""),
    (
      "gpxpy_gpx-with-node-with-comments.gpx",
      "tracks 1 track_points 1",
      "-0.134462 51.519402 -0.134462 51.519402"
    ),
    (
      "gpxpy_gpx1.1_with_all_fields.gpx",
      "waypoints 2 routes 2 tracks 2 route_points 5 track_points 1",
      "-20.2 10.0 46.7 14.0"
    ),
    ("gpxpy_gpx1.1_with_extensions_without_namespaces.gpx", "waypoints 1", "45.6 12.3 45.6 12.3"),
    (
      "gpxpy_korita-zbevnica.gpx",
      "waypoints 2 tracks 4 track_points 871",
      "14.003989119 45.367775448 14.167956915 45.463080872"
    ),
    (
      "gpxpy_track-with-empty-segment.gpx",
      "tracks 1 track_points 9",
      "6.0819695 50.7772126 6.0827233 50.7777341"
    ),
    (
      "gpxpy_track-with-less-sec-time.gpx",
      "tracks 1 track_points 2",
      "9.992872 57.011456 9.992874 57.01147"
    ),
    (
      "gpxpy_track_with_dilution_errors.gpx",
      "waypoints 1 routes 1 tracks 1 route_points 1 track_points 1",
      "13.2 12.1 13.2 12.1"
    ),
    ("gpxpy_unicode.gpx", "waypoints 6", "14.28863327 45.735199945 14.377516648 45.795349991"),
    ("gpxpy_unicode_with_bom.gpx", "waypoints 1", "3.515386 43.309634 3.515386 43.309634"),
    (
      "ot_gpx11_with_speed_no_namespace.gpx",
      "tracks 1 track_points 3",
      "-40.38670089 30.14184657 -40.3863038 30.14185982"
    ),
    ("ot_gpx_timezone.gpx", "waypoints 1 tracks 1 track_points 1", "14.0 3.0 14.0 3.0"),
    (
      "ot_legacy_gpx_trackpointextensions_incorrect.gpx",
      "waypoints 2 tracks 1 track_points 5",
      "14.0 3.0 16.001 3.0"
    ),
    (
      "pp_Alexanderplatz_SimulatedWalk.gpx",
      "waypoints 8",
      "13.401346206665039 52.518600138177696 13.439116573374008 52.54089596433216"
    ),
    (
      "pp_Ostkreuz_SimulatedWalk.gpx",
      "waypoints 14",
      "13.425627308275537 52.504241943359375 13.476323792440562 52.544647216796875"
    ),
    (
      "tg_Friday-Evening-Run.gpx",
      "tracks 1 track_points 17",
      "4.0602397 51.9015022 4.0692787 51.9035958"
    ),
    ("tg_empty_ele.gpx", "tracks 1 track_points 2", "-77.01059 38.892101 -77.01059 38.892101"),
    (
      "tg_garmin_extensions.gpx",
      "waypoints 2 routes 2 tracks 3 route_points 3 track_points 4",
      "1.0 0.0 24.0 23.0"
    ),
    (
      "tg_missing_hr.gpx",
      "tracks 1 track_points 16",
      "13.8153798692 47.8724118322 13.8155432325 47.8728961386"
    ),
    ("tg_north_core.gpx", "tracks 10 track_points 34", "-1.524722 10.228889 4.196806 13.52"),
    ("tg_osm.gpx", "tracks 3 track_points 420", "-77.014145 38.891148 -77.002798 38.908122"),
    (
      "tg_run_gpxtpx.gpx",
      "tracks 1 track_points 42",
      "-122.408018 37.783292 -122.407225 37.784222"
    ),
    ("tg_style.gpx", "tracks 21 track_points 362", "-106.468433 38.88899558 -106.149035 39.043153"),
    ("tg_trek_no_rtept.gpx", "routes 1", ""),
    ("tg_wpt.gpx", "waypoints 40", "6.671617 51.16846 6.79389 51.231123"),
  ]

  @Test func `the table names every file`() {
    let names = SharedData.files(in: "real/gpx", extensions: ["gpx"]).map(\.lastPathComponent)
    #expect(Set(names) == Set(Self.good.map(\.0) + ["tg_bad.gpx"]))
  }

  @Test(arguments: good) func `reads a file of another tool`(
    name: String, layers: String, envelope: String
  ) throws {
    let reading = try readGPX(SharedData.url("real/gpx/" + name))
    #expect(Self.layers(of: reading) == layers)
    #expect(Self.envelope(of: reading) == envelope)
    #expect(reading.passes == 1)
    for layer in reading.result.layers {
      #expect(
        reading.features(layer.schema.layer).count == reading.result.counts[layer.schema.layer])
    }
  }

  // GDAL reads 0 for `undefined`, which puts the points off Africa; latitudeType and longitudeType
  // of the schema are decimals.
  @Test func `a position that is no number is an error, or skipped`() throws {
    let url = SharedData.url("real/gpx/tg_bad.gpx")
    #expect(Self.failure(url) == "invalidData 5 feature 1")
    let reading = try readGPX(url) { $0.skipsErrors = true }
    #expect(Self.layers(of: reading) == "routes 1 tracks 1")
    #expect(reading.result.skipped.count == 5)
    #expect(reading.result.skipped.listed.map { $0.position?.line } == [5, 8, 13, 14, 18])
  }

  /// Error code, line and number of the element in its layer, or the layers.
  static let bad: [(String, String)] = [
    // GDAL reads 48 for `48,1`: xsd:decimal has a point.
    ("d_comma.gpx", "invalidData 2 feature 1"),
    ("d_empty.gpx", ""),
    ("d_entities.gpx", "invalidData 1"),
    // GDAL reads 95 degrees: latitudeType ends at 90.
    ("d_lat_range.gpx", "invalidData 2 feature 1"),
    // GDAL leaves the point out without a word: lon is required.
    ("d_no_lon.gpx", "invalidData 2 feature 1"),
    ("d_not_gpx.gpx", "invalidData 1"),
    // GDAL does not see GPX here: Namespaces in XML 1.0 leaves the prefix to the author.
    ("d_prefixed.gpx", "tracks 1 track_points 2"),
    ("d_time_backwards.gpx", "tracks 1 track_points 2"),
    ("d_truncated.gpx", "invalidData 2"),
  ]

  @Test func `the table names every bad file`() {
    let names = SharedData.files(in: "real/gpx-bad", extensions: ["gpx"]).map(\.lastPathComponent)
    #expect(names == Self.bad.map(\.0))
  }

  @Test(arguments: bad) func `a bad file has a typed outcome`(name: String, outcome: String) {
    let url = SharedData.url("real/gpx-bad/" + name)
    #expect(Self.failure(url) == outcome)
  }

  static func layers(of reading: GPXReading) -> String {
    reading.result.layers.map {
      "\($0.schema.layer) \(reading.result.counts[$0.schema.layer] ?? 0)"
    }.joined(separator: " ")
  }

  static func envelope(of reading: GPXReading) -> String {
    var whole = Envelope.empty
    for envelope in reading.collector.envelopes.values { whole.formUnion(envelope) }
    return whole.isEmpty ? "" : "\(whole.minX) \(whole.minY) \(whole.maxX) \(whole.maxY)"
  }

  static func failure(_ url: URL) -> String {
    do {
      return layers(of: try readGPX(url))
    } catch let error as FieldpackError {
      let line = error.position?.line.map { " \($0)" } ?? ""
      return "\(error.code)\(line)" + (error.position?.feature.map { " feature \($0)" } ?? "")
    } catch { return "\(error)" }
  }
}
