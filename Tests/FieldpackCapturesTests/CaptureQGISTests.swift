import FieldpackTestSupport
import Testing

/// What QGIS sees of imported captures: `apt install python3-qgis` (900 MB) enables this.
///
/// From 3.30 on it knows relations, if its GDAL (3.9) lists the tables that link; with older ones
/// `CaptureImportTests` asks GDAL only. `FIELDPACK_QGIS_PYTHON` names another Python with QGIS.
@Suite(
  .programs, .enabled(if: Programs.qgisPython != nil, Comment(rawValue: Programs.noQGISPython)))
struct CaptureQGISTests {
  @Test func `QGIS sees captures, tracks with m, points and media`() async throws {
    let lines = try await look(
      """
      for name in ['capture', 'capture_track', 'capture_point', 'media']:
        layer = QgsVectorLayer(sys.argv[1] + '|layername=' + name, name, 'ogr')
        print(name, layer.isValid(), layer.featureCount(), layer.crs().authid(),
          QgsWkbTypes.displayString(layer.wkbType()))
      for feature in layer.getFeatures():
        print(feature['role'], feature['content_type'], len(feature['data']) == feature['byte_count'])
      """)
    #expect(
      lines == [
        "capture True 2 EPSG:4326 Point", "capture_track True 1 EPSG:4326 LineStringM",
        "capture_point True 4 EPSG:4326 Point", "media True 3  NoGeometry",
        "media video/quicktime True", "thumbnail image/png True", "media image/jpeg True",
      ])
  }

  @Test(.enabled(if: Programs.qgisKnowsRelations, "QGIS is older than 3.30"))
  func `QGIS finds the relations and goes from captures to their media`() async throws {
    let lines = try await look(
      """
      names = ['capture', 'capture_track', 'capture_point', 'media', 'capture_media']
      layers = [QgsVectorLayer(f'{sys.argv[1]}|layername={n}', n, 'ogr') for n in names]
      QgsProject.instance().addMapLayers(layers)
      found = {r.id(): r for r in QgsRelationManager.discoverRelations([], layers)}
      for id, relation in sorted(found.items()):
        print(id, relation.isValid(), relation.referencingLayer().name(), relation.fieldPairs())
      forward, backward = (found['capture_media_media_' + s] for s in ('forward', 'backward'))
      for capture in layers[0].getFeatures():
        media = [backward.getReferencedFeature(link) for link in forward.getRelatedFeatures(capture)]
        print(capture.id(), sorted((m['role'], len(m['data']) == m['byte_count']) for m in media))
      """)
    #expect(
      lines == [
        "capture_capture_point True capture_point {'capture_fid': 'fid'}",
        "capture_capture_track True capture_track {'capture_fid': 'fid'}",
        "capture_media_media_backward True capture_media {'related_id': 'id'}",
        "capture_media_media_forward True capture_media {'base_id': 'fid'}",
        "1 [('media', True), ('thumbnail', True)]", "2 [('media', True)]",
      ])
  }

  /// What a script prints that looks at two captures in QGIS.
  private func look(_ script: String) async throws -> [String] {
    let sample = try CaptureSample()
    try sample.addVideo()
    try sample.addSecondForm()
    _ = try await sample.load()
    let start = """
      import os, sys
      os.environ['QT_QPA_PLATFORM'] = 'offscreen'
      from qgis.core import *
      app = QgsApplication([], False)
      app.initQgis()

      """
    let result = try await Program.run(
      Programs.qgisPython ?? "", ["-c", start + script, sample.target])
    #expect(result.status == 0, "\(result.error)")
    return result.output.split(separator: "\n").map { String($0) }
  }
}
