import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Captures that another machine gets from the server.
  @Suite struct CaptureFetchTests {
    private static let capture = SampleCapture()

    private func files(below url: URL) throws -> [String: [UInt8]] {
      var files: [String: [UInt8]] = [:]
      for name in try FileManager.default.subpathsOfDirectory(atPath: url.path) {
        let path = url.appendingPathComponent(name).path
        if let data = FileManager.default.contents(atPath: path), !data.isEmpty {
          files[name] = Array(data)
        }
      }
      return files
    }

    @Test func `a folder has the files that the device sent`() async throws {
      let server = try await TestServer(isWritable: true)
      _ = try await server.upload(Self.capture)
      let fetch = try CaptureFetch(from: server.address)
      let root = server.folder.file("got")
      #expect(try await fetch.run("c1", to: root.path) == root.path + "/c1")
      let files = try files(below: root)
      #expect(
        files.keys.sorted()
          == ["c1/c1.json", "c1/c1.mov", "c1/c1.png", "c1/capture-info.json"])
      #expect(files["c1/c1.mov"] == Self.capture.media)
      #expect(files["c1/c1.png"] == Self.capture.thumbnail)
      let info = try JSONValueReader.read(
        String(decoding: files["c1/capture-info.json"] ?? [], as: UTF8.self))
      #expect(info["weather"] == "dry")
      let again = await #expect(throws: FieldpackError.self) {
        _ = try await fetch.run("c1", to: root.path)
      }
      #expect(again?.code == .cannotCreate)
      let missing = await #expect(throws: FieldpackError.self) {
        _ = try await fetch.run("../c1", to: root.path)
      }
      #expect(missing != nil)
      await server.close()
    }

    @Test func `a GeoPackage has it once, and as the server does`() async throws {
      let server = try await TestServer(isWritable: true)
      _ = try await server.upload(Self.capture)
      let fetch = try CaptureFetch(from: server.address + "/")
      let file = server.folder.file("copy.gpkg").path
      let first = try await fetch.run("c1", into: file, id: "copy")
      #expect(first.imported.map(\.token) == ["c1"])
      let second = try await fetch.run("c1", into: file, id: "copy")
      #expect(second.known.map(\.token) == ["c1"])
      #expect(!FileManager.default.fileExists(atPath: file + "-fetch"))
      let copy = try await GeoPackageStore(path: file, id: "copy")
      let (here, there) = (CaptureCatalogue(copy), CaptureCatalogue(server.store))
      let captures = try await (here.capture("c1"), there.capture("c1"))
      #expect(captures.0.info == captures.1.info)
      #expect(try await here.geodata(of: captures.0) == there.geodata(of: captures.1))
      #expect(
        try await here.files(of: captures.0).map(\.json)
          == there.files(of: captures.1).map(\.json))
      await copy.close()
      await server.close()
    }

    @Test func `other bytes than the server states are refused, and what is whole is kept`()
      async throws
    {
      let server = try await TestServer(isWritable: true)
      _ = try await server.upload(Self.capture)
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(
          2, in: "media", set: ["sha256": .text(String(repeating: "0", count: 64))])
      }
      let fetch = try CaptureFetch(from: server.address)
      let root = server.folder.file("got")
      let error = await #expect(throws: FieldpackError.self) {
        _ = try await fetch.run("c1", to: root.path)
      }
      #expect(error?.code == .invalidData)
      #expect(try Array(files(below: root).keys) == [".fetch-c1/c1.mov"])
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(
          2, in: "media", set: ["sha256": .text(SHA256.hex(Self.capture.thumbnail))])
      }
      // The media are not asked for again: the server does not have them any more.
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(1, in: "media", set: ["data": .blob([0])])
      }
      let folder = try await fetch.run("c1", to: root.path)
      #expect(
        try Array(Data(contentsOf: URL(fileURLWithPath: folder + "/c1.mov"))) == Self.capture.media)
      await server.close()
    }
  }
#endif
