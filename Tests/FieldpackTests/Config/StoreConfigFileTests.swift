import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct StoreConfigFileTests {
  /// `base/config` holds the config's files, `base/outside` lies beside it.
  private let base: TemporaryFolder
  private let folder: String

  init() throws {
    base = try TemporaryFolder()
    folder = base.file("config").path
    let manager = FileManager.default
    for name in ["config/sub", "outside", "config-2", "e\u{301}"] {
      try manager.createDirectory(at: base.file(name), withIntermediateDirectories: true)
    }
    for name in [
      "config/a.gpkg", "config/sub/b.gpkg", "config/x.gpkg?vfs=unix-none", "config/%2e%2e",
      "config/ü 1.gpkg", "outside/secret.gpkg", "config-2/near.gpkg", "config/a:b.gpkg",
      "e\u{301}/c.gpkg",
    ] { _ = try base.write("x", to: name) }
    for (link, target) in [
      ("config/link.gpkg", "a.gpkg"), ("config/escape.gpkg", "../outside/secret.gpkg"),
      ("config/way", "../outside"), ("config/loop", "loop"), ("config/dangling", "../outside/no"),
    ] {
      try manager.createSymbolicLink(
        atPath: base.file(link).path, withDestinationPath: target)
    }
    guard mkfifo(folder + "/pipe", 0o600) == 0 else { throw FieldpackError(.io, "mkfifo") }
  }

  /// The file below `base`, or the error.
  private func outcome(_ uri: String, allowing: [String] = []) -> String {
    let config = StoreConfig(
      id: "s", type: "gpkg", uri: uri, folder: folder, allowing: allowing,
      position: FilePosition(file: "a.scfg", line: 2, column: 3))
    do throws(FieldpackError) {
      let path = try config.localFile()
      return path.replacing(realBase + "/", with: "")
    } catch {
      #expect(error.location.store == "s" && error.position?.line == 2)
      let advice: FieldpackError.Advice? =
        switch error.code {
        case .permission: .allowFolder
        case .unavailable: .fetchStores(config: "a.scfg")
        default: nil
        }
      #expect(error.advice == advice)
      return "\(error.code): \(error.message.replacing(realBase, with: "BASE"))"
    }
  }

  private var realBase: String { base.url.resolvingSymlinksInPath().path }

  @Test(arguments: [
    ("a.gpkg", "config/a.gpkg"), ("./a.gpkg", "config/a.gpkg"), ("sub/b.gpkg", "config/sub/b.gpkg"),
    ("sub/../a.gpkg", "config/a.gpkg"), ("link.gpkg", "config/a.gpkg"),
    ("../config/a.gpkg", "config/a.gpkg"), ("ü 1.gpkg", "config/ü 1.gpkg"),
    ("x.gpkg?vfs=unix-none", "config/x.gpkg?vfs=unix-none"), ("%2e%2e", "config/%2e%2e"),
    ("a:b.gpkg", "config/a:b.gpkg"), ("sub//b.gpkg", "config/sub/b.gpkg"),
  ])
  func `a uri is relative to its config, word for word`(uri: String, file: String) {
    #expect(outcome(uri) == file)
  }

  @Test(arguments: [
    "../outside/secret.gpkg", "escape.gpkg", "way/secret.gpkg", "/etc/passwd",
    "../../../etc/passwd",
    "sub/../../outside/secret.gpkg", "../config-2/near.gpkg", "..", "../outside/missing",
    "way/missing", "/missing/../etc/passwd", "missing/../../outside/secret.gpkg",
    "file:///etc/passwd", "file:/etc/passwd", "file://localhost/etc/passwd",
    "file:///%65tc/passwd", "FILE:///etc/passwd", "missing/../\u{301}../../../outside/../..",
  ])
  func `a uri that leaves the folder is refused, there or not`(uri: String) {
    #expect(
      outcome(uri) == "permission: '\(uri)' leaves the folder of its config")
  }

  @Test func `an escape in a file uri is undone before the check`() {
    let inside = folder
    #expect(outcome("file://\(inside)/a%2Egpkg") == "config/a.gpkg")
    #expect(outcome("file://\(inside)/%C3%BC%201.gpkg") == "config/ü 1.gpkg")
    #expect(outcome("file://\(inside)/%2e%2e/outside/secret.gpkg").hasPrefix("permission: "))
    #expect(outcome("file://\(inside)/x.gpkg?vfs=unix-none") == "config/x.gpkg?vfs=unix-none")
    #expect(outcome("file://\(inside)/x.gpkg?mode=memory").hasPrefix("notFound: "))
  }

  @Test func `an allowance opens a folder or a file, and no more`() {
    let outside = [base.file("outside").path]
    #expect(outcome("../outside/secret.gpkg", allowing: outside) == "outside/secret.gpkg")
    #expect(outcome("escape.gpkg", allowing: outside) == "outside/secret.gpkg")
    #expect(
      outcome(base.file("outside/secret.gpkg").path, allowing: outside) == "outside/secret.gpkg")
    #expect(outcome("../config-2/near.gpkg", allowing: outside).hasPrefix("permission: "))
    #expect(outcome("../outside/no", allowing: outside).hasPrefix("notFound: "))
    let file = [base.file("config-2/near.gpkg").path]
    #expect(outcome("../config-2/near.gpkg", allowing: file) == "config-2/near.gpkg")
    #expect(outcome("../outside/secret.gpkg", allowing: file).hasPrefix("permission: "))
    #expect(
      outcome("/etc/hostname", allowing: [base.file("config/way").path]).hasPrefix("permission"))
    #expect(
      outcome("../outside/secret.gpkg", allowing: [base.file("config/way").path])
        == "outside/secret.gpkg")
    #expect(
      outcome("../e\u{301}/c.gpkg", allowing: [base.file("\u{e9}").path]).hasPrefix("permission: "))
  }

  @Test(arguments: [
    ("", "configuration: the store has no uri"),
    ("missing.gpkg", "notFound: 'missing.gpkg' is not there (looked for BASE/config/missing.gpkg)"),
    ("a.gpkg/", "notFound: 'a.gpkg/' is not there (looked for BASE/config/a.gpkg)"),
    ("a.gpkg/b", "notFound: 'a.gpkg/b' is not there (looked for BASE/config/a.gpkg/b)"),
    ("dangling", "notFound: 'dangling' is not there (looked for BASE/config/dangling)"),
    ("loop", "notFound: 'loop' is not there (looked for BASE/config/loop)"),
    ("sub", "configuration: 'sub' is not a regular file (BASE/config/sub)"),
    (".", "configuration: '.' is not a regular file (BASE/config)"),
    ("pipe", "configuration: 'pipe' is not a regular file (BASE/config/pipe)"),
    ("a.gpkg\u{0}.txt", "configuration: the uri holds U+0000, which no file name can"),
    ("file:///a%00b", "configuration: the uri holds U+0000, which no file name can"),
    ("file:///a%0", "configuration: 'file:///a%0' has a broken percent escape"),
    ("file:///a%FF", "configuration: 'file:///a%FF' has a broken percent escape"),
    (
      "file://host/a",
      "configuration: 'file://host/a' names another host; a file uri has three slashes"
    ),
    ("s3://bucket/a.gpkg", "configuration: a uri with 's3:' is not supported"),
    ("ftp://h/a", "configuration: a uri with 'ftp:' is not supported"),
    (
      "HTTPS://user:word@h.example/a/b.gpkg?token=x#y",
      "unavailable: not downloaded yet (HTTPS://h.example/a/b.gpkg)"
    ),
    ("http://h", "unavailable: not downloaded yet (http://h)"),
  ])
  func `a uri that leads to no file says why`(uri: String, message: String) {
    #expect(outcome(uri) == message)
  }

  @Test func `a uri is shown without user and query, whatever its scheme`() {
    let shown = [
      "https://ann:secret@host/a?token=1", "wss://ann:secret@host/a#b", "x?y@z.gpkg",
    ].map { StoreConfig(id: "s", type: "gpkg", uri: $0).shownURI }
    #expect(shown == ["https://host/a", "wss://host/a", "x?y@z.gpkg"])
  }

  @Test func `a uri has a length`() {
    let long = String(repeating: "/a", count: 3_000_000)
    #expect(outcome(long) == "configuration: the uri has 6000000 bytes, more than a path may")
  }

  @Test func `a device is no file, and a user's own path needs no allowance`() throws {
    let device = StoreConfig(id: "s", type: "gpkg", uri: "/dev/null")
    let error = #expect(throws: FieldpackError.self) { try device.localFile() }
    #expect(error?.message == "'/dev/null' is not a regular file (/dev/null)")
    let own = StoreConfig(id: "s", type: "gpkg", uri: base.file("outside/secret.gpkg").path)
    #expect(try own.localFile().hasSuffix("/outside/secret.gpkg"))
  }
}
