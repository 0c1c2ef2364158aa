import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackPhotos

@Suite struct PhotoIndexTests {
  @Test(arguments: [1, 2])
  func `photos and pictures are found by indexes`(copies: Int) async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001)])
    _ = try await walk.fetch(server.provider())
    try await walk.store.write { (writer) throws(FieldpackError) in
      // As files were before there were indexes.
      for name in ["media_sha256", "photo_provider_id", "track_point_photo_state"] {
        try writer.execute("DROP INDEX \(name)")
      }
      try writer.execute("DELETE FROM fieldpack_schema WHERE layer = 'media'")
      for _ in 1..<copies {
        try writer.execute(
          "INSERT INTO photo (provider, photo_id, secret, server, farm, title, source_url) "
            + "SELECT provider, photo_id, secret, server, farm, title, source_url FROM photo")
      }
    }
    #expect(try await walk.fetch(server.provider()) == [])
    let names = try await walk.store.write { (writer) throws(FieldpackError) in
      try writer.rows(
        "SELECT name, sql LIKE '%UNIQUE%' FROM sqlite_master WHERE type = 'index' AND name IN "
          + "('media_sha256', 'photo_provider_id', 'track_point_photo_state') ORDER BY name"
      ).map { "\($0[0].string ?? "") \($0[1].int ?? -1)" }
    }
    #expect(
      names == [
        "media_sha256 0", "photo_provider_id \(copies == 1 ? 1 : 0)", "track_point_photo_state 0",
      ])
    await walk.store.close()
  }
}
