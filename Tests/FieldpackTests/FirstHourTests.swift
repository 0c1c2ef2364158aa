import Fieldpack
import FieldpackTestSupport
import Foundation
import Testing

/// What a program prints before it knows the library well.
@Suite struct FirstHourTests {
  @Test func `reports print in a line`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("survey.gpkg").path
    let broken = try folder.write(
      #"{"type":"Feature","properties":{"depth":1},"geometry":null}"# + "\n{\n",
      to: "more.geojsonl")
    var options = ImportOptions()
    options.skipsErrors = true
    let imported = try await FileImport(options).run(
      [Checkout.file("TestData/demo/wells.geojson").path, broken.path], into: path)
    #expect("\(imported)" == "41 features imported: wells 40, more 1; 1 skipped")
    let workspace = try await Workspace.open(file: path)
    let exported = try await workspace.exportFeatures(
      Query("wells", where: Column<Double>("depth") > 80), to: folder.file("deep.geojson").path)
    #expect("\(exported)" == "1 feature exported: wells 1")
    await workspace.close()
    #expect("\(try await FileCheck().run(path))" == "GeoPackage 1.4: 0 errors, 0 warnings")
    let operation = TransformationReport(
      source: "EPSG:4258", target: "EPSG:25833", operation: "UTM zone 33N", accuracy: 0.5,
      missingGrids: ["a.tif"])
    #expect("\(operation)" == "EPSG:4258 to EPSG:25833 by UTM zone 33N, to 0.5 m; without a.tif")
    #expect("\(MotionImportReport())" == "0 samples of 0 batches in 0 sessions")
    let joined = MotionJoinReport(sessions: [.init(id: "s", samples: 12, placed: 11)])
    #expect("\(joined)" == "11 of 12 samples placed in 1 session")
    #expect("\(MotionClient.Report())" == "0 readings, 0 batches sent")
  }

  @Test func `a monitor gives what it detects, which prints in a line`() throws {
    let zone = WatchedRegion(id: 7, geometry: .point(x: 13.9, y: 51.95), radius: 100)
    var monitor = try GeofenceMonitor(try WatchedRegions([zone]))
    let far = Fix(longitude: 13.8, latitude: 51.95)
    #expect(monitor.take(far, number: 0) == [])
    let entered = monitor.take(Fix(longitude: 13.9, latitude: 51.95), number: 1)
    #expect(entered.map { "\($0)" } == ["enter region 7 at fix 1, -100.0 m"])
    let left = monitor.take([far], from: 2)
    #expect(left.map { "\($0)" } == ["exit region 7 at fix 2, 6775.4 m"])
    let moved = Detection(fix: 3, kind: .moved, device: "a")
    #expect("\(moved)" == "moved by a at fix 3")
  }
}
