import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Geometries in any system that PROJ knows, with the axes of its authority.
  @Suite(.programs) struct ReferenceSystemTests {
    private static let items = "/collections/wells/items"

    private static func uri(_ code: Int) -> String {
      "http://www.opengis.net/def/crs/EPSG/0/\(code)"
    }

    private func positions(_ path: String, of server: TestServer) async throws -> [[Double]] {
      let answer = try await server.get(path)
      guard answer.status == 200, case .array(let features)? = try answer.json["features"] else {
        throw FieldpackError(.invalidData, answer.text)
      }
      return features.compactMap { feature in
        guard case .array(let numbers)? = feature["geometry"]?["coordinates"] else { return nil }
        return numbers.map { number in
          switch number {
          case .integer(let number): Double(number)
          case .real(let number): number
          default: .nan
          }
        }
      }
    }

    @Test func `one feature is given in each system by turns`() async throws {
      let server = try await TestServer()
      var seen: [Int: String] = [:]
      for code in [84, 4326, 25832, 3857, 84, 25832, 4326, 3857] {
        let crs = code == 84 ? "" : "?crs=\(Self.uri(code))"
        let one = try await server.get("\(Self.items)/2\(crs)").json
        let geometry = try #require(one["geometry"]).text
        #expect(seen[code] ?? geometry == geometry)
        seen[code] = geometry
      }
      #expect(Set(seen.values).count == 4)
      #expect(seen[84] == #"{"type":"Point","coordinates":[1,0.5]}"#)
      #expect(seen[4326] == #"{"type":"Point","coordinates":[0.5,1]}"#)
      await server.close()
    }

    /// GDAL gives x first. Northing or latitude comes first in EPSG's own order where the flag says so.
    @Test(
      .enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)),
      arguments: [
        (25832, false), (3035, true), (4258, true), (3857, false), (3395, false), (32661, true),
        (3031, false), (2180, true), (27700, false),
      ])
    func `positions are those that GDAL makes`(code: Int, isNorthFirst: Bool) async throws {
      let server = try await TestServer()
      let source = server.folder.file("wells.json")
      let plain = try await server.get("\(Self.items)?limit=100")
      try plain.text.write(to: source, atomically: true, encoding: .utf8)
      let made = try await Program.run(
        Programs.ogr2ogr ?? "",
        [
          "-f", "CSV", "/vsistdout/", source.path, "-t_srs", "EPSG:\(code)", "-lco",
          "GEOMETRY=AS_XY", "-select", "name",
        ])
      let expected = made.output.split(separator: "\n").dropFirst().compactMap { line in
        let parts = line.split(separator: ",").prefix(2).compactMap { Double($0) }
        return parts.count == 2 ? (isNorthFirst ? [parts[1], parts[0]] : parts) : nil
      }
      #expect(expected.count == 19)
      for name in [Self.uri(code), "[EPSG:\(code)]", "urn:ogc:def:crs:EPSG::\(code)"] {
        let found = try await positions("\(Self.items)?limit=100&crs=\(name)", of: server)
        #expect(found.count == 19)
        for (own, other) in zip(found, expected) {
          // Rounded to 8 decimals here, and to 15 digits there.
          #expect(abs(own[0] - other[0]) < 1e-5 && abs(own[1] - other[1]) < 1e-5, "\(own) \(other)")
        }
        let answer = try await server.get("\(Self.items)/4?crs=\(name)")
        #expect(answer.fields["Content-Crs"] == "<\(Self.uri(code))>")
      }
      await server.close()
    }

    /// Well n lies at n - 1, (n - 1) / 2. UTM zone 32 is 6 to 12 degrees east, and a degree north is 110,530 m there.
    @Test func `boxes and conditions are in any system, too`() async throws {
      let server = try await TestServer()
      for (query, ids) in [
        ("bbox=166000,100000,834000,500000&bbox-crs=\(Self.uri(32632))", [7, 8, 9, 10]),
        ("bbox=166000,100000,834000,500000&bbox-crs=[EPSG:32632]", [7, 8, 9, 10]),
        ("bbox=2.9,5,3.6,8&bbox-crs=\(Self.uri(4258))", [7, 8]),
        (
          "filter=S_INTERSECTS(geom,BBOX(166000,350000,834000,500000))"
            + "&filter-crs=\(Self.uri(32632))", [8, 9, 10]
        ),
        ("filter=S_INTERSECTS(geom,POINT(3.5%207))&filter-crs=\(Self.uri(4258))", [8]),
      ] as [(String, [Int64])] {
        let found = try await server.ids("\(Self.items)?\(query)").filter { $0 != 20 }
        #expect(found == ids, "\(query)")
      }
      await server.close()
    }

    /// Unknown codes, systems without a plane, a height alone, and another planet.
    @Test(arguments: ["EPSG/0/999999", "EPSG/0/4978", "EPSG/0/5773", "IAU_2015/0/30100", "X/0/1"])
    func `what PROJ cannot reach is refused`(name: String) async throws {
      let server = try await TestServer()
      let uri = "http://www.opengis.net/def/crs/\(name)"
      for query in [
        "crs=\(uri)", "bbox-crs=\(uri)", "filter-crs=\(uri)", "bbox=1,1,2,2&bbox-crs=\(uri)",
        "filter=S_INTERSECTS(geom,POINT(1%201))&filter-crs=\(uri)",
      ] {
        let answer = try await server.get("\(Self.items)?\(query)")
        #expect(answer.status == 400, "\(query): \(answer.text)")
      }
      #expect(try await server.get("\(Self.items)/4?crs=\(uri)").status == 400)
      await server.close()
    }

    @Test func `the list of systems stays short`() async throws {
      let server = try await TestServer()
      let collection = try await server.get("/collections/wells").json
      #expect(
        collection["crs"]
          == [
            "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
            "http://www.opengis.net/def/crs/EPSG/0/4326",
            "http://www.opengis.net/def/crs/EPSG/0/3857",
          ])
      await server.close()
    }
  }
#endif
