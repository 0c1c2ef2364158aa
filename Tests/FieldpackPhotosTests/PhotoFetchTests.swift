import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackPhotos

@Suite(.programs) struct PhotoFetchTests {
  @Test func `each point gets the nearest photo that no other has`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5), (13.4, 52.5001), (13.4, 52.51)])
    let server = try FlickrServer([(13.4, 52.5002), (13.4, 52.5004), (13.4, 52.5103)])
    let found = try await walk.fetch(server.provider())
    #expect(found == ["2 found 1", "3 found 3", "1 found 2"])
    #expect(try await walk.states() == ["found", "found", "found"])
    #expect(
      try await walk.links() == ["2 1 0 1", "2 2 1 0", "3 3 0 1", "1 1 0 0", "1 2 1 1"])
    #expect(server.radii == ["0.5", "0.5", "0.5"])
    let photos = try await walk.features("photo")
    #expect(photos.map { $0.attributes["provider"] } == ["flickr", "flickr", "flickr"])
    #expect(photos.first?.geometry == .point(x: 13.4, y: 52.5002))
    #expect(photos.first?[Column<String>("owner")] == "Ann")
    #expect(try await walk.orphans() == [])
    #expect(try await walk.features("photo_job") == [])
    // A second run has nothing to ask for.
    #expect(try await walk.fetch(server.provider()) == [])
    #expect(server.searches.count == 3)
    await walk.store.close()
  }

  @Test func `a picture is stored as it came, once`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5), (13.4, 52.51)])
    let server = try FlickrServer([(13.4, 52.5002), (13.4, 52.5102)])
    let picture = TestPicture.png(width: 9, height: 8, color: (1, 2, 3))
    for id in ["1", "2"] { server.answer(picture: id, .response(200, body: picture)) }
    #expect(try await walk.fetch(server.provider()) == ["1 found 1", "2 found 2"])
    let media = try await walk.features("media")
    #expect(
      media.map(\.attributes) == [
        [
          "data": .blob(picture), "content_type": "image/png", "role": "photo",
          "file_name": "1.png", "width_px": 9, "height_px": 8,
          "byte_count": .integer(Int64(picture.count)), "sha256": .text(SHA256.hex(picture)),
        ]
      ])
    let feed = try await PhotoFeed(of: walk.store).entries
    #expect(feed.map(\.point) == [2, 1])
    #expect(feed.map(\.photo?.media) == [1, 1])
    let photo = try #require(feed.last?.photo)
    #expect(try await PhotoFeed.picture(photo, of: walk.store) == picture)
    #expect(abs((photo.distance ?? 0) - 22.25) < 0.01)
    await walk.store.close()
  }

  @Test func `the search gets wider until there is a photo`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.515)])
    var wide = PhotoFetch.Settings()
    wide.radii = PhotoFetch.radii(within: 32_000)
    #expect(try await walk.fetch(server.provider(), wide) == ["1 found 1"])
    #expect(server.radii == ["0.5", "1", "2"])
    await walk.store.close()
  }

  @Test func `no point looks farther than another that still looks near`() async throws {
    // One photo beside each of the last three points; the first is 2 km off.
    let places = [52.48, 52.5, 52.501, 52.502]
    let walk = try await PhotoWalk(places.map { (13.4, $0) })
    let server = try FlickrServer(places.dropFirst().map { (13.4, $0 + 0.0001) })
    var wide = PhotoFetch.Settings()
    wide.radii = PhotoFetch.radii(within: 5000)
    #expect(
      Set(try await walk.fetch(server.provider(), wide))
        == ["1 duplicate -", "2 found 1", "3 found 2", "4 found 3"])
    #expect(server.radii == ["0.5", "0.5", "0.5", "0.5", "1", "2", "5"])
    await walk.store.close()
  }

  @Test(
    arguments: [
      (100, ["0.1"]), (700, ["0.5", "0.7"]), (1000, ["0.5", "1"]),
      (50_000, ["0.5", "1", "2", "5", "10", "20", "32"]),
    ] as [(Double, [String])])
  func `the search gets no wider than it may`(metres: Double, radii: [String]) async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer()
    var settings = PhotoFetch.Settings()
    settings.radii = PhotoFetch.radii(within: metres)
    #expect(try await walk.fetch(server.provider(), settings) == ["1 none -"])
    #expect(server.radii == radii)
    await walk.store.close()
  }

  @Test func `a point without a photo stays in the feed`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer()
    #expect(try await walk.fetch(server.provider()) == ["1 none -"])
    #expect(server.radii == ["0.5"])
    let entry = try #require(try await PhotoFeed(of: walk.store).entries.first)
    #expect(entry.state == .none && entry.photo == nil && entry.radius == 500)
    #expect(entry.message == "no photo lies as near as that")
    #expect(try await walk.fetch(server.provider()) == [])
    // Asked for again, it can be found.
    let later = try FlickrServer([(13.4, 52.5)])
    let fetch = try await PhotoFetch(store: walk.store, provider: later.provider())
    #expect(try await fetch.retry() == 1)
    #expect(try await walk.fetch(later.provider()) == ["1 found 1"])
    #expect(try await walk.features("photo_job") == [])
    await walk.store.close()
  }

  @Test func `a photo is not taken twice in a track`() async throws {
    let points = [(13.4, 52.5), (13.4, 52.5), (13.4, 52.5), (13.4, 52.5)]
    let walk = try await PhotoWalk(points)
    let server = try FlickrServer([(13.4, 52.5001), (13.4, 52.5002)])
    #expect(
      try await walk.fetch(server.provider())
        == ["1 found 1", "2 found 2", "3 duplicate -", "4 duplicate -"])
    #expect(
      try await walk.links() == [
        "1 1 0 1", "1 2 1 0", "2 1 0 0", "2 2 1 1", "3 1 0 0", "3 2 1 0", "4 1 0 0", "4 2 1 0",
      ])
    // With repeats it is the one whose last use is the longest ago.
    var repeats = PhotoFetch.Settings()
    repeats.allowsRepeats = true
    let fetch = try await PhotoFetch(
      store: walk.store, provider: server.provider(), settings: repeats)
    #expect(try await fetch.retry() == 2)
    #expect(try await walk.fetch(server.provider(), repeats) == ["3 found 1", "4 found 2"])
    #expect(try await walk.orphans() == [])
    // The pictures were in the file: none was fetched again.
    #expect(server.server.requests.count { $0.target.hasSuffix(".jpg") } == 2)
    await walk.store.close()
  }

  @Test(arguments: [
    LoopbackServer.Reply.text(404, ""), .text(410, ""), .text(200, "<html>gone</html>"),
    .response(200, body: [UInt8](repeating: 0xFF, count: 2_000_000)), .text(301, ""),
    .text(302, "", fields: [["Location", "http://localhost:1/"]]), .text(503, ""), .nothing,
  ])
  func `a picture that is gone leaves its place to the next`(
    reply: LoopbackServer.Reply
  ) async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001), (13.4, 52.5002)])
    server.answer(picture: "1", reply)
    var small = PhotoFetch.Settings()
    small.maximumLength = 1 << 20
    #expect(try await walk.fetch(server.provider(), small) == ["1 found 2"])
    #expect(try await walk.links() == ["1 1 0 0", "1 2 1 1"])
    #expect(try await walk.features("media").count == 1)
    await walk.store.close()
  }

  @Test func `what fails is tried again later, and not for ever`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001)])
    server.answer(picture: "1", .text(503, ""))
    let time = TestClock()
    var pauses: [Int64] = []
    for attempt in 1...5 {
      let state = attempt < 5 ? "pending" : "failed"
      #expect(try await walk.fetch(server.provider(), clock: time.clock) == ["1 \(state) -"])
      #expect(try await walk.fetch(server.provider(), clock: time.clock) == [])
      let entry = try #require(try await PhotoFeed(of: walk.store).entries.first)
      #expect(entry.attempts == attempt)
      #expect(entry.message == "photo 1: the server answers with status 503")
      if let next = entry.nextAttempt {
        let pause = next.milliseconds - time.clock.now.milliseconds
        pauses.append(pause / 1000)
        time.advance(by: .milliseconds(pause))
      }
    }
    #expect(pauses == [30, 60, 120, 240])
    // Each time it was asked for once, however far was searched.
    #expect(server.server.requests.count { $0.target.hasSuffix(".jpg") } == 5)
    server.answer(picture: "1", nil)
    let fetch = try await PhotoFetch(store: walk.store, provider: server.provider())
    #expect(try await fetch.retry(track: 2) == 0)
    #expect(try await fetch.retry(track: 1) == 1)
    #expect(try await walk.fetch(server.provider()) == ["1 found 1"])
    await walk.store.close()
  }

  @Test func `a wrong key stops the run and blames no point`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5), (13.4, 52.6)])
    let server = try FlickrServer()
    server.answer(
      searches: .text(200, #"{"stat":"fail","code":100,"message":"Invalid API Key"}"#))
    var found: FieldpackError?
    do { _ = try await walk.fetch(server.provider()) } catch { found = error as? FieldpackError }
    #expect(found?.code == .permission)
    #expect(try await walk.states() == ["pending", "pending"])
    #expect(try await walk.features("photo_job") == [])
    #expect(server.searches.count == 1)
    await walk.store.close()
  }

  @Test func `a slow server delays nothing but its own point`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001)])
    server.answer(picture: "1", .silence)
    let provider = try server.provider(timeout: .seconds(600))
    let fetch = try await PhotoFetch(store: walk.store, provider: provider)
    let task = Task { () async -> FieldpackError? in
      do throws(FieldpackError) {
        try await fetch.run()
        return nil
      } catch { return error }
    }
    while server.server.requests.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
    // While the picture is waited for, fixes are recorded.
    for number in 1...3 {
      try await walk.store.write { (writer) throws(FieldpackError) in
        _ = try writer.create(
          Feature(
            geometry: .point(x: 13.4, y: 52.5),
            attributes: [
              "track_fid": 1, "seq": .integer(Int64(number)), "time": .dateTime(PhotoWalk.start),
              "time_unix": 0.0, "id_md5": "",
            ]), in: "track_point")
      }
    }
    task.cancel()
    #expect(await task.value?.code == .interrupted)
    #expect(try await walk.states() == ["pending", "pending", "pending", "pending"])
    #expect(try await walk.orphans() == [])
    await walk.store.close()
  }

  @Test func `two searches at once take no photo twice`() async throws {
    let points = (0..<8).map { _ in (13.4, 52.5) }
    let walk = try await PhotoWalk(points)
    let server = try FlickrServer((0..<8).map { (13.4, 52.5001 + Double($0) * 0.0001) })
    let other = try await GeoPackageStore(path: walk.path, id: "walk")
    let stores = [walk.store, other]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores {
        let provider = try server.provider()
        group.addTask {
          try await PhotoFetch(store: store, provider: provider).run()
        }
      }
      try await group.waitForAll()
    }
    let chosen = try await walk.links().filter { $0.hasSuffix(" 1") }
    #expect(Set(chosen.map { $0.split(separator: " ")[1] }).count == 8)
    #expect(try await walk.states() == [String](repeating: "found", count: 8))
    #expect(try await walk.orphans() == [])
    await other.close()
    await walk.store.close()
  }

  @Test func `no key is in the file`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5), (13.5, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001)])
    _ = try await walk.fetch(server.provider())
    server.answer(
      searches: .text(200, #"{"stat":"fail","code":3,"message":"\#(FlickrServer.key)"}"#))
    let fetch = try await PhotoFetch(store: walk.store, provider: server.provider())
    try await fetch.retry()
    _ = try await walk.fetch(server.provider())
    await walk.store.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: walk.path))
    #expect(bytes.range(of: Data("0123456789abcdef".utf8)) == nil)
  }

  private func walkWithPicture() async throws -> PhotoWalk {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001)])
    _ = try await walk.fetch(server.provider())
    await walk.store.close()
    return walk
  }

  @Test(.enabled(if: !Programs.validators.isEmpty, Comment(rawValue: Programs.noValidator)))
  func `pictures pass GDAL's validator`() async throws {
    let walk = try await walkWithPicture()
    for validator in Programs.validators where validator.knowsVersion14 {
      let result = try await Program.run(
        validator.python, ["-m", "osgeo_utils.samples.validate_gpkg", "-k", "--extra", walk.path])
      #expect(result.output + result.error == "")
    }
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `GDAL finds the pictures`() async throws {
    let walk = try await walkWithPicture()
    let script = """
      import sys; from osgeo import gdal; gdal.UseExceptions()
      d = gdal.OpenEx(sys.argv[1])
      for n in sorted(d.GetRelationshipNames() or []):
        r = d.GetRelationship(n)
        print(r.GetLeftTableName(), r.GetRightTableName(), r.GetMappingTableName(), \
      r.GetRelatedTableType())
      """
    let result = try await Program.run(
      Programs.gdalPython ?? "", ["-c", script, walk.path])
    #expect(
      result.output == """
        photo media photo_media media
        track_point photo track_point_photo features

        """, "\(result)")
  }
}
