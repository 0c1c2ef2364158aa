import FieldpackTestSupport
import Testing

/// What QGIS sees of imported captures: `apt install python3-qgis` (900 MB) enables this.
///
/// Debian's 3.22 does not know relations yet; `CaptureImportTests` asks GDAL, from which later ones
/// take them.
@Suite(.enabled(if: Programs.qgisPython != nil, Comment(rawValue: Programs.noQGISPython)))
struct CaptureQGISTests {
  @Test func `QGIS sees captures, tracks with m, points and media`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    try sample.addSecondForm()
    _ = try await sample.load()
    let script = """
      import os, sys
      os.environ['QT_QPA_PLATFORM'] = 'offscreen'
      from qgis.core import *
      app = QgsApplication([], False)
      app.initQgis()
      for name in ['capture', 'capture_track', 'capture_point', 'media']:
        layer = QgsVectorLayer(sys.argv[1] + '|layername=' + name, name, 'ogr')
        print(name, layer.isValid(), layer.featureCount(), layer.crs().authid(),
          QgsWkbTypes.displayString(layer.wkbType()))
      for feature in layer.getFeatures():
        print(feature['role'], feature['content_type'], len(feature['data']) == feature['byte_count'])
      """
    let result = try await Program.run(
      Programs.qgisPython ?? "", ["-c", script, sample.target])
    #expect(result.status == 0, "\(result.error)")
    #expect(
      result.output.split(separator: "\n") == [
        "capture True 2 EPSG:4326 Point", "capture_track True 1 EPSG:4326 LineStringM",
        "capture_point True 4 EPSG:4326 Point", "media True 3  NoGeometry",
        "media video/quicktime True", "thumbnail image/png True", "media image/jpeg True",
      ])
  }
}
