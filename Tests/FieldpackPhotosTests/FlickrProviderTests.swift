import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackPhotos

@Suite struct FlickrProviderTests {
  private func failure<R>(
    _ body: () async throws(FieldpackError) -> R
  ) async -> FieldpackError? {
    do throws(FieldpackError) {
      _ = try await body()
      return nil
    } catch { return error }
  }

  @Test func `a search has PhotoPath's items in its order`() async throws {
    let server = try FlickrServer()
    _ = try await server.provider().candidates(
      near: Position(x: 13.409247493784164, y: 52.521049275860484), radius: 500, limit: 10)
    #expect(
      server.searches == [
        "method=flickr.photos.search&format=json&nojsoncallback=1&api_key=0123456789abcdef%2B%2F"
          + "&lat=52.521049275860484&lon=13.409247493784164&radius=0.5&per_page=10&geo_context=0"
          + "&extras=geo,license,owner_name,date_taken&min_upload_date=1072915200"
      ])
  }

  @Test func `photos come by ascending distance`() async throws {
    let server = try FlickrServer([(13.4, 52.503), (13.4, 52.501), (13.4, 52.502), (13.4, 52.6)])
    let found = try await server.provider().candidates(
      near: Position(x: 13.4, y: 52.5), radius: 500, limit: 2)
    #expect(found.map(\.id) == ["2", "3"])
    #expect(
      found.first
        == PhotoCandidate(
          id: "2", title: "Photo 2", owner: "Ann", license: "4",
          position: Position(x: 13.4, y: 52.501), source: server.server.address + "/7/2_abc2_b.jpg",
          secret: "abc2", server: "7", farm: 1, size: .large))
  }

  @Test(arguments: [
    ("b", "https://farm3.staticflickr.com/200/47_ee_b.jpg"),
    ("-", "https://farm3.staticflickr.com/200/47_ee.jpg"),
    ("o", "https://farm3.staticflickr.com/200/47_ee_o.jpg"),
  ])
  func `a picture's address follows its size`(size: String, address: String) async throws {
    let server = try FlickrServer()
    server.answer(
      searches: .text(
        200,
        #"{"stat":"ok","photos":{"photo":[{"id":"47","secret":"ee","server":200,"farm":"3"}]}}"#))
    var settings = FlickrProvider.Settings()
    settings.service = server.server.address + "/rest"
    settings.size = try #require(PhotoSize(rawValue: size))
    let provider = try FlickrProvider(key: "k", settings: settings)
    let found = try await provider.candidates(near: Position(x: 0, y: 0), radius: 500, limit: 9)
    #expect(found.map(\.source) == [address])
  }

  @Test func `there is no provider without a key`() async {
    for key in [nil, ""] {
      let error = await failure { () async throws(FieldpackError) in try FlickrProvider(key: key) }
      #expect(error?.code == .configuration)
      #expect(
        error?.message
          == "photos of Flickr need a key. Try: FLICKR_API_KEY=… in the environment")
    }
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `recorded answers are read`() throws {
    func reply(_ name: String) throws -> FlickrReply {
      try FlickrReply(Array(Data(contentsOf: SharedData.url("field-systems/flickr/\(name)"))))
    }
    let photos = try reply("photos.json")
    #expect(photos.photos.map(\.id) == ["477842380", "477860905"] && photos.total == 1270)
    let error = #expect(throws: FieldpackError.self) { try reply("fail.json") }
    #expect(
      error?.underlying as? FlickrFailure
        == FlickrFailure(code: 112, message: #"Method "flickr.fakeMethod" not found"#))
    #expect(error?.code == .invalidData)
  }

  @Test func `numbers may be texts and texts numbers`() throws {
    let text = """
      {"photos":{"total":"3","photo":[
      {"id":1,"secret":"a1","server":"7","farm":"2","title":{"_content":"T"},"latitude":"52.5",\
      "longitude":13.4},
      {"id":"2","secret":"a2","server":8,"farm":0,"title":"U","latitude":0,"longitude":0}]},
      "stat":"ok"}
      """
    let reply = try FlickrReply(Array(text.utf8))
    #expect(reply.total == 3)
    #expect(
      reply.photos == [
        .init(
          id: "1", secret: "a1", server: "7", farm: 2, title: "T",
          position: Position(x: 13.4, y: 52.5)),
        .init(id: "2", secret: "a2", server: "8", farm: 0, title: "U"),
      ])
  }

  @Test(arguments: [
    "", "{", "[]", "null", #"{"stat":"ok"}"#, #"{"stat":"ok","photos":7}"#,
    #"{"stat":"ok","photos":{"photo":{}}}"#, #"{"stat":"maybe"}"#, "<html></html>",
    String(repeating: "[", count: 100_000), "{\"stat\":\"ok\u{0}\"}",
  ])
  func `an answer that is none is an error`(text: String) throws {
    var found: FieldpackError?
    do throws(FieldpackError) { _ = try FlickrReply(Array(text.utf8)) } catch { found = error }
    #expect(found?.code == .invalidData)
  }

  @Test(arguments: [
    #""id":"../../etc""#, #""id":"1/2""#, #""id":"""#, #""id":null"#, #""id":"1 2""#, #""id":"é""#,
    #""id":"1","server":"a.b""#, #""id":"1","secret":"x?y""#, #""id":1.5"#,
  ])
  func `a photo whose address could be another is passed over`(member: String) throws {
    let text = """
      {"stat":"ok","photos":{"photo":[{"secret":"s","server":"1",\(member)},
      {"id":"7","secret":"s","server":"1","latitude":"NaN","longitude":1e999,"farm":-1}]}}
      """
    let reply = try FlickrReply(Array(text.utf8))
    #expect(reply.photos == [.init(id: "7", secret: "s", server: "1", farm: 0, title: "")])
  }

  @Test func `a refusal never shows the key`() async throws {
    let server = try FlickrServer()
    server.answer(
      searches: .text(
        200, #"{"stat":"fail","code":100,"message":"Invalid API Key \#(FlickrServer.key)"}"#))
    let provider = try server.provider()
    let error = await failure { () async throws(FieldpackError) in
      try await provider.candidates(near: Position(x: 1, y: 2), radius: 500, limit: 1)
    }
    #expect(error?.code == .permission)
    #expect(
      error?.message
        == "Flickr refuses the search for photos: Invalid API Key … (code 100)")
    #expect(
      error?.underlying as? FlickrFailure
        == FlickrFailure(code: 100, message: "Invalid API Key …"))
    for spelling in ["0123456789abcdef%2B%2F", "0123456789abcdef%2b%2f"] {
      server.answer(
        searches: .text(200, #"{"stat":"fail","code":3,"message":"?api_key=\#(spelling)&"}"#))
      let error = await failure { () async throws(FieldpackError) in
        try await provider.candidates(near: Position(x: 1, y: 2), radius: 500, limit: 1)
      }
      #expect(
        error?.underlying as? FlickrFailure == FlickrFailure(code: 3, message: "?api_key=…&"))
      #expect(
        error?.message == "Flickr refuses the search for photos: ?api_key=…& (code 3)")
    }
    server.answer(searches: .nothing)
    let broken = await failure { () async throws(FieldpackError) in
      try await provider.candidates(near: Position(x: 1, y: 2), radius: 500, limit: 1)
    }
    #expect(broken?.code == .unavailable)
    #expect(broken?.message.contains("0123456789abcdef") == false)
  }

  @Test func `an answer past the time limit is to be asked for again`() async throws {
    let server = try FlickrServer()
    server.answer(searches: .silence)
    let provider = try server.provider(timeout: .milliseconds(200))
    let error = await failure { () async throws(FieldpackError) in
      try await provider.candidates(near: Position(x: 1, y: 2), radius: 500, limit: 1)
    }
    #expect(error?.code == .unavailable && error?.httpFailure == .timeout)
  }
}
