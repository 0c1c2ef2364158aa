import Fieldpack
import FieldpackCore
import FieldpackServices
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct ServicesArticleTests {
  private struct Sensors: Service {
    let id = ServiceID.sensor
    func start() async throws(FieldpackError) {}
    func pause() async {}
    func resume() async {}
    func stop() async {}
  }

  @Test func `the article on services shows the code that the tests run`() throws {
    let article = try String(
      contentsOf: Checkout.file("Sources/Fieldpack/Fieldpack.docc/Services.md"), encoding: .utf8)
    let code = try String(
      contentsOf: Checkout.file("Tests/FieldpackServicesTests/CountFeatures.swift"),
      encoding: .utf8)
    #expect(article.contains("```swift\n\(code)```\n"))
  }

  @Test func `the stores of a folder of configs are counted`() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(StoreFolder.geoJSON, to: "wells.geojson")
    for name in ["a", "b"] {
      _ = try await FileImport().run([file.path], into: folder.file("\(name).gpkg").path)
      _ = try folder.write(
        #"{"stores":[{"id":"\#(name)","store_type":"gpkg","version":"1","uri":"\#(name).gpkg"}]}"#,
        to: "\(name).scfg")
    }
    #expect(try await countFeatures(in: folder.url.path, sensors: Sensors()) == 2)
  }
}
