import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct TrackLogCommandTests {
  private let survey: SurveyFolder

  private static let receiver = """
    $GPRMC,235959,A,4807.038,N,01131.000,E,10,90,311299,,
    $GPGGA,235959,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,
    $GPGGA,000000,4807.039,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*00

    """
  private static let flight = """
    AXXX001
    HFDTE311299
    B2359594807038N01131000EA0012300456

    """
  private static let training = """
    <?xml version="1.0"?><TrainingCenterDatabase><Activities><Activity Sport="Running"><Lap><Track>
    <Trackpoint><Time>1999-12-31T23:59:59Z</Time><Position><LatitudeDegrees>48.1</LatitudeDegrees>
    <LongitudeDegrees>11.5</LongitudeDegrees></Position></Trackpoint>
    </Track></Lap></Activity></Activities></TrainingCenterDatabase>
    """

  init() throws {
    survey = try SurveyFolder()
    for (text, name) in [
      (Self.receiver, "receiver.nmea"), (Self.flight, "flight.igc"), (Self.training, "run.tcx"),
      (Self.flight, "flight.log"),
    ] {
      _ = try survey.folder.write(text, to: name)
    }
  }

  @Test func `logs are sources, known by their contents`() async throws {
    for (name, format) in [
      ("flight.igc", "igc"), ("flight.log", "igc"), ("run.tcx", "tcx"),
    ] {
      let count = try await survey.run("query", name, "track_points", "--count")
      #expect(count.output == "1\n")
      #expect(count.status == 0)
      let info = try await survey.run("info", name)
      #expect(info.output.contains("open (\(format).1, "))
    }
    let rows = try await survey.run(
      "query", "flight.igc", "track_points", "--select", "time,ele,pressure_altitude",
      "--format", "csv")
    #expect(
      rows.output.replacing("\r\n", with: "\n") == """
        time,ele,pressure_altitude,wkt
        1999-12-31T23:59:59.000Z,456.0,123,POINT ZM (11.516666666666667 48.1173 456 946684799)

        """)
  }

  @Test func `logs are imported beside each other as tracks`() async throws {
    let report = try await survey.run(
      "import", "flight.igc", "run.tcx", "walk.gpx", "--into", "field.gpkg", "--layer", "all")
    #expect(report.error == "")
    #expect(report.status == 0)
    let points = try await survey.run(
      "query", "field.gpkg", "all_track_points", "--select", "track_fid,time", "--format", "csv")
    #expect(
      points.output.replacing("\r\n", with: "\n") == """
        fid,track_fid,time,wkt
        1,1,1999-12-31T23:59:59.000Z,POINT ZM (11.516666666666667 48.1173 456 946684799)
        2,2,1999-12-31T23:59:59.000Z,POINT M (11.5 48.1 946684799)
        3,3,2024-05-01T10:00:00.000Z,POINT ZM (13.4 52.5 34 1714557600)
        4,3,2024-05-01T10:01:00.000Z,POINT ZM (13.41 52.51 35.5 1714557660)

        """)
  }

  @Test func `a bad sentence stops the import, or is passed over with status 2`() async throws {
    let failed = try await survey.run("import", "receiver.nmea", "--into", "field.gpkg")
    #expect(failed.status == 65)
    #expect(
      failed.error.hasPrefix(
        "fieldpack: receiver.nmea:3: the checksum is 00, but that of the sentence is "))
    #expect(!survey.exists("field.gpkg"))
    let skipped = try await survey.run(
      "import", "receiver.nmea", "--into", "field.gpkg", "--skip-errors")
    #expect(skipped.status == 2)
    let count = try await survey.run("query", "field.gpkg", "track_points", "--count")
    #expect(count.output == "1\n")
  }

  @Test func `a log is no format to write`() async throws {
    let named = try await survey.run("export", "walk.gpx", "--output", "walk.igc")
    #expect(named.status == 64)
    #expect(
      named.error.hasPrefix("fieldpack: igc is read, and not written. Try: --format geojson, "))
    let asked = try await survey.run(
      "export", "walk.gpx", "--output", "walk.out", "--format", "nmea")
    #expect(asked.status == 64)
  }
}
