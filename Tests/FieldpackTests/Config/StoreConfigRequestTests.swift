import FieldpackCore
import FieldpackHTTP
import Foundation
import Testing

@testable import Fieldpack

/// What a remote store is asked for with.
@Suite struct StoreConfigRequestTests {
  private func config(_ uri: String) -> StoreConfig {
    StoreConfig(id: "wells", type: "wfs", version: "2.0.0", uri: uri)
  }

  @Test(arguments: [
    ("https://example.org/wfs?a=b@c", "https://example.org/wfs?a=b@c", nil),
    ("data/wells@home.gpkg", "data/wells@home.gpkg", nil),
    ("https://me:word@example.org:81/a@b?c=d", "https://example.org:81/a@b?c=d", "me:word"),
    ("HTTP://me@example.org", "HTTP://example.org", "me:"),
    ("https://m%40e:w:%3A%C3%A9@example.org?x", "https://example.org?x", "m@e:w::é"),
    ("https://a@b:c@example.org/#d", "https://example.org/#d", "a@b:c"),
  ])
  func `has the user of the uri as a field`(uri: String, address: String, user: String?) throws {
    let request = try config(uri).request()
    #expect(request.address == address)
    let word = user.map { "Basic " + Data($0.utf8).base64EncodedString() }
    #expect(request.fields["Authorization"] == word)
    #expect(request.fields.fields.count == (user == nil ? 0 : 1))
  }

  @Test(arguments: ["https://m%3Ae:word@example.org", "https://me:w%4@example.org"])
  func `is refused for a user that cannot be sent`(uri: String) {
    let error = #expect(throws: FieldpackError.self) { try config(uri).request() }
    #expect(error?.code == .configuration)
    #expect(
      error?.message
        == "the user or the password in the uri of store 'wells' cannot be read: two hexadecimal "
        + "digits follow a %, both are UTF-8, and a user has no colon")
  }
}
