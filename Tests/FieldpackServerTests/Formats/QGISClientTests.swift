import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// QGIS reads features and draws vector tiles.
  ///
  /// QGIS is 900 MB, so `Scripts/test` does not install it: `apt install python3-qgis` enables these.
  @Suite(
    .programs, .enabled(if: Programs.qgisPython != nil, Comment(rawValue: Programs.noQGISPython)))
  struct QGISClientTests {
    /// What a script prints as JSON that has QGIS's `core` names and the server's `address`.
    private func qgis(_ script: String, _ server: TestServer) async throws -> JSONValue {
      let head = """
        import json, os, sys
        os.environ['QT_QPA_PLATFORM'] = 'offscreen'
        from qgis.core import *
        from qgis.PyQt.QtCore import QEventLoop, QSize, QTimer
        from qgis.PyQt.QtGui import QColor
        address, folder = sys.argv[1:3]
        app = QgsApplication([], False)
        app.initQgis()

        """
      // QGIS 3.22 crashes when Python ends.
      let end = "\nsys.stdout.flush()\nos._exit(0)"
      let result = try await Program.run(
        Programs.qgisPython ?? "",
        ["-c", head + script + end, server.address, server.folder.url.path],
        environment: ["HOME": server.folder.url.path])
      #expect(result.status == 0, "\(result.error)")
      return try JSONValueReader.read(result.output)
    }

    /// QGIS asks for pages of 1,000.
    @Test func `all pages of a layer are read, and those of a box`() async throws {
      let lines = Locked<[String]>([])
      let server = try await TestServer(
        wells: 2500,
        configure: { options, _ in
          options.journal = { line in lines.withLock { $0.append(line) } }
        })
      let found = try await qgis(
        """
        source = f"url='{address}/' typename='wells'"
        layer = QgsVectorLayer(source, 'wells', 'OAPIF')
        boxed = QgsVectorLayer(source + " restrictToRequestBBOX='1'", 'wells', 'OAPIF')
        names = {feature['name'] for feature in layer.getFeatures()}
        request = QgsFeatureRequest().setFilterRect(QgsRectangle(4.5, 2.2, 7.5, 4))
        print(json.dumps({
          'isValid': layer.isValid() and boxed.isValid(), 'crs': layer.crs().authid(),
          'fields': [f'{field.name()} {field.typeName()}' for field in layer.fields()],
          'features': len(names), 'count': layer.featureCount(),
          'boxed': sorted(feature['name'] for feature in boxed.getFeatures(request))}))
        """, server)
      #expect(
        found == [
          "isValid": true, "crs": "EPSG:4326",
          "fields": ["name String", "depth Real", "seen DateTime"],
          "features": 2500, "count": 2500, "boxed": ["well 5", "well 6", "well 7"],
        ])
      let pages = lines.withLock { $0.filter { $0.contains("/items?limit=1000") } }
      #expect(pages.count { $0.contains("bbox=") } == 1)
      #expect(pages.count { !$0.contains("bbox=") } == 3)
      await server.close()
    }

    @Test func `vector tiles are drawn where the features are`() async throws {
      let server = try await TestServer(wells: 7)
      let found = try await qgis(
        """
        place = address + '/tiles/%7Bz%7D/%7Bx%7D/%7By%7D.mvt'
        layer = QgsVectorTileLayer(f'type=xyz&url={place}&zmin=0&zmax=14', 'tiles')
        style = QgsVectorTileBasicRendererStyle('wells', 'wells', QgsWkbTypes.PointGeometry)
        style.setSymbol(QgsMarkerSymbol.createSimple(
          {'name': 'square', 'size': '3', 'color': '255,0,0', 'outline_style': 'no'}))
        renderer = QgsVectorTileBasicRenderer()
        renderer.setStyles([style])
        layer.setRenderer(renderer)
        layer.setLabeling(None)
        settings = QgsMapSettings()
        settings.setDestinationCrs(QgsCoordinateReferenceSystem('EPSG:3857'))
        settings.setLayers([layer])
        settings.setBackgroundColor(QColor(255, 255, 255))
        settings.setOutputSize(QSize(512, 512))
        settings.setFlag(QgsMapSettings.Antialiasing, False)
        # Five degrees and a half around 2.5, 1.25.
        settings.setExtent(QgsRectangle(-111319, -222638, 667917, 556597))
        job = QgsMapRendererParallelJob(settings)
        loop = QEventLoop()
        job.finished.connect(loop.quit)
        QTimer.singleShot(60000, loop.quit)
        job.start()
        loop.exec_()
        image = job.renderedImage()
        image.save(folder + '/tiles.png')
        project = QgsCoordinateTransform(
          QgsCoordinateReferenceSystem('EPSG:4326'), settings.destinationCrs(), QgsProject.instance())
        def color(x, y):
          place = settings.mapToPixel().transform(project.transform(x, y))
          return image.pixelColor(int(place.x()), int(place.y())).name()
        print(json.dumps({
          'isValid': layer.isValid(), 'errors': [error.message for error in job.errors()],
          'wells': sorted({color(index, index / 2) for index in range(6)}),
          'between': sorted({color(index + 0.5, index / 2 + 0.25) for index in range(5)}),
          'elsewhere': sorted({color(0, 3), color(5, 0), color(-0.8, -1.5)})}))
        """, server)
      #expect(
        found == [
          "isValid": true, "errors": [], "wells": ["#ff0000"], "between": ["#ffffff"],
          "elsewhere": ["#ffffff"],
        ])
      await server.close()
    }
  }
#endif
