#if Server
  import FieldpackCore
  import FieldpackHTTP
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackServer

  @Suite(.programs) struct BundleTests {
    /// Each rule with an archive that Python makes, and what is said of it.
    private static let refusals: [(String, String)] = [
      ("up", "'../evil.html' leads out of the archive"),
      ("deep", "'a/../../evil.html' leads out of the archive"),
      ("sign", "'../\u{301}evil' leads out of the archive"),
      ("dot", "'./index.html' leads out of the archive"),
      ("absolute", "'/etc/evil' leads out of the archive"),
      ("drive", "'C:evil' leads out of the archive"),
      ("back", "'..\\evil' leads out of the archive"),
      ("empty-part", "'a//b' leads out of the archive"),
      ("link", "'link' is a link or a device, and no file"),
      ("dos-link", "'link' is a link or a device, and no file"),
      ("device", "'null' is a link or a device, and no file"),
      ("fifo", "'pipe' is a link or a device, and no file"),
      ("twice", "'index.html' is there twice"),
      ("ratio", "it unpacks to more than 100 times its size"),
      ("huge", "it unpacks to more than 512 MiB"),
      ("many", "the ZIP archive has more than 10000 entries, which is refused"),
      ("no-page", "it has no index.html, neither at its top nor in a folder there"),
      ("too-deep", "it has no index.html, neither at its top nor in a folder there"),
      ("two", "2 of its folders have an index.html"),
      ("locked", "'index.html' is encrypted"),
      ("broken", "the ZIP archive is damaged: its directory cannot be read"),
    ]

    @Test func `each archive that is not safe is refused as a whole, and listed with the reason`()
      async throws
    {
      let server = try await AppServer()
      try await server.zip(
        #"""
        index = ('index.html', page)
        archive('up.zip', [index, ('../evil.html', 'x')])
        archive('deep.zip', [index, ('a/../../evil.html', 'x')])
        archive('sign.zip', [index, ('../\u0301evil', 'x')])
        archive('dot.zip', [index, ('./index.html', 'x')])
        archive('absolute.zip', [index, ('/etc/evil', 'x')])
        archive('drive.zip', [index, ('C:evil', 'x')])
        archive('back.zip', [index, ('..\\evil', 'x')])
        archive('empty-part.zip', [index, ('a//b', 'x')])
        archive('link.zip', [index, (entry('link', stat.S_IFLNK | 0o777), '/etc/passwd')])
        archive('dos-link.zip', [index, (entry('link', stat.S_IFLNK | 0o777, 0), '/etc/passwd')])
        archive('device.zip', [index, (entry('null', stat.S_IFCHR | 0o666), '')])
        archive('fifo.zip', [index, (entry('pipe', stat.S_IFIFO | 0o666), '')])
        archive('twice.zip', [index, index])
        archive('ratio.zip', [index, ('zeros', b'\0' * 2000000)])
        with zipfile.ZipFile(sys.argv[1] + '/huge.zip', 'w', zipfile.ZIP_DEFLATED) as zip:
            zip.writestr('index.html', page)
            for number in range(9):
                with zip.open('zeros%d' % number, 'w') as file:
                    for _ in range(60): file.write(b'\0' * (1 << 20))
        archive('many.zip', [index] + [('f%d' % number, '') for number in range(10000)])
        archive('no-page.zip', [('readme.txt', 'x')])
        archive('too-deep.zip', [('a/b/index.html', page)])
        archive('two.zip', [('a/index.html', page), ('b/index.html', page)])
        archive('locked.zip', [index])
        bytes = bytearray(open(sys.argv[1] + '/locked.zip', 'rb').read())
        bytes[6] |= 1; bytes[bytes.index(b'PK\x01\x02') + 8] |= 1
        open(sys.argv[1] + '/locked.zip', 'wb').write(bytes)
        open(sys.argv[1] + '/broken.zip', 'wb').write(b'PK\x03\x04' + b'x' * 200)
        archive('fine.zip', [index])
        open(sys.argv[1] + '/notes.txt', 'w').write('no archive')
        """#)
      var bundles = try await server.bundles()
      #expect(bundles.removeValue(forKey: "fine") == "served")
      #expect(bundles == Dictionary(uniqueKeysWithValues: Self.refusals))
      let refused = try await server.ask("/bundles/up/")
      #expect(refused.status == 404)
      #expect(refused.text.contains("leads out of the archive"))
      await server.close()
      #expect(!FileManager.default.fileExists(atPath: "/etc/evil"))
    }

    @Test func `names of archives and of what is in them are texts in every page`() async throws {
      let server = try await AppServer()
      let markup = "<img src=x onerror=alert(1)>"
      try await server.zip(
        """
        archive('\(markup).zip', [('index.html', page)])
        archive('up.zip', [('index.html', page), ('../\(markup)', 'x')])
        """)
      for path in ["/bundles", "/bundles/up/", "/bundles/\(PercentText.encode(markup))x/"] {
        let page = try await server.ask(path, fields: ["Accept": "text/html"])
        #expect(page.fields["Content-Type"] == "text/html; charset=utf-8", "\(path)")
        #expect(!page.text.contains("<img"), "\(path)")
        #expect(
          page.fields["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true,
          "\(path)")
      }
      let list = try await server.ask("/bundles", fields: ["Accept": "text/html"])
      #expect(list.text.contains("&lt;img src=x onerror=alert(1)&gt;"))
      await server.close()
    }

    @Test func `pages get the bridge, and lie in a world of their own`() async throws {
      let server = try await AppServer()
      try await server.zip(
        """
        archive('app.zip', [('app/index.html', page), ('app/js/main.js', 'go()'),
            ('app/sub/index.html', page), ('app/data.json', '{}'), ('other.txt', 'x'),
            ('__MACOSX/index.html', 'x')])
        archive('other.zip', [('index.html', page)])
        """)
      #expect(try await server.bundles() == ["app": "served", "other": "served"])
      // The client follows to the first page.
      let first = try await server.ask("/bundles/app/")
      #expect(first.status == 200)
      #expect(first.fields["Content-Type"] == "text/html; charset=utf-8")
      let start =
        "<!DOCTYPE html><html><head><script src=\"\(server.address)/spatialconnect-bridge.js\""
      #expect(first.text.hasPrefix(start + " data-key=\""))
      #expect(first.text.hasSuffix("\"></script><title>App</title></head><body></body></html>"))
      let key = String(first.text.split(separator: "\"")[3])
      let policy = try #require(first.fields["Content-Security-Policy"])
      #expect(
        policy == "sandbox allow-scripts allow-forms allow-modals allow-popups; default-src "
          + "\(server.address) data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src "
          + "\(server.address) ws\(server.address.dropFirst(4)) data: blob:; img-src * data: blob:; "
          + "object-src 'none'; frame-ancestors 'none'")
      // No other page may read the key.
      #expect(first.fields["Access-Control-Allow-Origin"] == nil)
      let home = "/bundles/app/~\(key)"
      let script = try await server.ask(home + "/js/main.js")
      #expect(
        [script.text, script.fields["Content-Type"]] == ["go()", "text/javascript; charset=utf-8"])
      #expect(script.fields["Access-Control-Allow-Origin"] == "*")
      #expect(script.fields["Content-Security-Policy"] == policy)
      // What a script reads is as it is.
      let template = try await server.ask(
        home + "/index.html", fields: ["Sec-Fetch-Dest": "empty", "Origin": "null"])
      #expect(!template.text.contains("data-key"))
      #expect(template.fields["Access-Control-Allow-Origin"] == "*")
      let below = try await server.ask(home + "/sub")
      #expect(below.text.contains("data-key=\"\(key)\""))
      let fresh = try await server.ask(
        home + "/data.json",
        fields: ["If-None-Match": try await server.ask(home + "/data.json").fields["ETag"] ?? ""])
      #expect(fresh.status == 304)
      for path in [
        home + "/other.txt", home + "/none", "/bundles/app/~wrong/index.html", "/bundles/none/",
        "/bundles/other/~\(key)/index.html", home + "/../../field.gpkg", home + "/%2e%2e/other.txt",
        home + "/%2e%2e%2fother.txt",
      ] {
        let status = try await server.ask(path).status
        #expect([400, 404].contains(status), "\(path) gives \(status)")
      }
      #expect(try await server.ask("/bundles/app/", "POST").status == 405)
      await server.close()
    }

    @Test func `the folder is looked at anew when somebody asks`() async throws {
      let server = try await AppServer()
      #expect(try await server.bundles() == [:])
      try await server.zip("archive('app.zip', [('index.html', 'one')])")
      #expect(try await server.ask("/bundles/app/").text.hasSuffix("one"))
      try await server.zip("archive('app.zip', [('index.html', 'another')])")
      #expect(try await server.ask("/bundles/app/").text.hasSuffix("another"))
      try FileManager.default.removeItem(at: server.folder.file("bundles/app.zip"))
      #expect(try await server.ask("/bundles/app/").status == 404)
      #expect(try await server.bundles() == [:])
      await server.close()
    }

    @Test func `what is unpacked goes with the server`() async throws {
      let folder = try TemporaryFolder()
      let bundles = BundleFolder(folder.url.path)
      let server = try await AppServer()
      try await server.zip("archive('app.zip', [('index.html', 'one')])")
      try FileManager.default.copyItem(
        at: server.folder.file("bundles/app.zip"), to: folder.file("app.zip"))
      await bundles.look()
      let bundle = try #require(await bundles.bundle("app"))
      #expect(FileManager.default.fileExists(atPath: bundle.folder + "/index.html"))
      await bundles.close()
      #expect(!FileManager.default.fileExists(atPath: bundle.folder))
      await server.close()
    }
  }
#endif
