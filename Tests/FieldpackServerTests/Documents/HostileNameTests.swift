import FieldpackCore
import FieldpackGeometry
import Foundation
import Testing

@testable import FieldpackServer

@Suite struct HostileNameTests {
  private static let documents = SampleLayers.documents(
    SampleLayers.hostile.map { name in
      ServedLayer(
        Layer(
          schema: Schema(layer: LayerID(name), geometry: .init(srs: .wgs84)), kind: .features))
    })

  @Test(arguments: SampleLayers.hostile)
  func `the path of a link leads back to the layer`(name: String) throws {
    let json = try Self.documents.json(.collection(LayerID(name)))
    let hrefs = json["links"]?.items.compactMap { $0["href"]?.string } ?? []
    #expect(hrefs.count == 12)
    for href in hrefs {
      // Whatever resolves dots leaves the address as it is.
      let url = try #require(URL(string: href)?.standardized)
      #expect(url.absoluteString == href)
      let path = try #require(href.split(separator: "?").first).split(separator: "/")
      #expect(path.prefix(4) == ["https:", "example.org", "field", "collections"])
      let id = try #require(path[4].removingPercentEncoding)
      #expect(!["", ".", ".."].contains(id.prefix { $0 != ";" }))
      #expect(CollectionName.layer(id) == LayerID(name))
      #expect(href.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3C })
    }
    #expect(CollectionName.layer(json["id"]?.string ?? "") == LayerID(name))
  }

  @Test func `ids are all different, and plain names stay`() {
    let names = SampleLayers.hostile + ["", "~~", "~.", "~~..", "wells", "~wells"]
    #expect(Set(names.map { CollectionName.id(of: LayerID($0)) }).count == names.count)
    #expect(
      CollectionName.id(of: "wells") == "wells" && CollectionName.id(of: "~wells") == "~wells")
    #expect(CollectionName.id(of: "..") == "~.." && CollectionName.id(of: "~..") == "~~..")
    for name in names {
      #expect(CollectionName.layer(CollectionName.id(of: LayerID(name))) == LayerID(name))
    }
  }

  @Test(arguments: [ServerDocuments.Name.landing, .collections, .api, .functions])
  func `documents with such names are JSON`(name: ServerDocuments.Name) throws {
    let document = try #require(
      Self.documents.document(name, as: .json, base: SampleLayers.base))
    _ = try JSONSerialization.jsonObject(with: Data(document.bytes))
  }

  @Test func `functions are those that conditions know`() throws {
    let json = try Self.documents.json(.functions)
    let functions = try #require(json["functions"]?.items)
    #expect(functions.compactMap { $0["name"]?.string } == CQL2.functions)
    #expect(functions.count == 36)
    let types: Set = ["string", "number", "integer", "datetime", "geometry", "boolean", "array"]
    for function in functions {
      #expect(function["description"]?.string?.isEmpty == false)
      let named = function["returns"]?.items ?? []
      let arguments = function["arguments"]?.items.flatMap { $0["type"]?.items ?? [] } ?? []
      #expect(!named.isEmpty && !arguments.isEmpty)
      #expect((named + arguments).allSatisfy { types.contains($0.string ?? "") })
    }
  }
}
