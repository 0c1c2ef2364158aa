import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackPhotos

/// Files whose photos an earlier tool stored.
@Suite(.programs) struct PhotoUpgradeTests {
  /// Track points with pictures of a layer, one of them now of Flickr.
  private func package() async throws -> FieldFile {
    let package = try FieldFile(copying: "tracks.gpkg", of: "field")
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.execute("UPDATE photo SET provider = 'flickr', secret = 'abc' WHERE fid = 1")
      }
    }
    return package
  }

  private func columns(_ table: String, _ package: FieldFile) throws -> [String] {
    try package.rows("SELECT name, \"notnull\" FROM pragma_table_info('\(table)') ORDER BY cid")
  }

  @Test func `jobs and photos get the columns of today, and keep their rows`() async throws {
    let package = try await package()
    let counts = """
      SELECT (SELECT count(*) FROM photo), (SELECT count(*) FROM photo_job),
        (SELECT count(*) FROM media), (SELECT count(*) FROM track_point_photo)
      """
    let before = try package.rows(counts)
    let tries = try package.rows("SELECT point_fid, provider, attempt, message FROM photo_job")
    let server = try FlickrServer([(13.4, 52.5)])
    try await package.withStore { store in
      _ = try await PhotoFetch(store: store, provider: server.provider())
    }
    #expect(try package.rows(counts) == before)
    #expect(try package.rows("SELECT subject, target, attempt, message FROM photo_job") == tries)
    #expect(
      try package.rows("SELECT DISTINCT state, next_at IS NULL FROM photo_job")
        == ["failed|1"])
    #expect(
      try package.rows(
        "SELECT DISTINCT provider, secret, server, farm, size_code FROM photo ORDER BY 2")
        == ["album.gpkg:photos|NULL|NULL|NULL|NULL", "flickr|abc||0|b"])
    #expect(
      try columns("photo", package) == [
        "fid|1", "geom|0", "provider|1", "photo_id|1", "owner|0", "title|1", "license|0",
        "source_url|1", "fetched_at|0", "secret|0", "server|0", "farm|0", "size_code|0",
      ])
    #expect(
      try columns("photo_job", package) == [
        "id|1", "subject|1", "target|1", "attempt|1", "radius_m|0", "next_at|0", "message|0",
        "state|1", "http_status|0", "bytes_sent|1", "bytes_total|1", "updated_at|0",
      ])
    #expect(try package.findings() == [])
    #expect(try await package.verdicts() == [])
  }

  @Test func `a track is deleted with its photos and jobs`() async throws {
    let package = try await package()
    let deleted = try await package.withStore { store in try await store.deleteTracks([1]) }
    #expect(
      deleted.layers.map { "\($0.layer) \($0.count)" } == [
        "track 1", "track_point 26", "photo_job 14", "photo 12", "media 12", "monitor_run 1",
      ])
    #expect(try package.findings() == [])
  }
}
