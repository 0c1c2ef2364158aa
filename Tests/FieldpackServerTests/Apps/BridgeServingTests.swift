#if Server
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackHTTP
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackServer

  @Suite(.programs) struct BridgeServingTests {
    private static let chromium: String? = ["chromium", "chromium-browser", "google-chrome"].first {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
    }

    @Test func `messages without a session are answered at once, a line each`() async throws {
      let server = try await AppServer()
      let query = #"{"type":110,"payload":{"filter":{"limit":1},"storeId":["field"]}}"#
      let answer = try await server.ask(
        "/bridge", "POST", body: query + "\n" + #"{"type":701,"responseId":"b"}"#)
      #expect(answer.status == 200)
      #expect(answer.fields["Content-Type"] == "application/x-ndjson")
      #expect(
        answer.text == """
          {"event":"110","data":{"type":110,"payload":{"type":"Feature","id":"ZmllbGQ=.d2VsbHM=.MQ==",\
          "properties":{"name":"well 0"},"metadata":{"client":"D1","storeId":"field",\
          "layerId":"wells"},"geometry":{"type":"Point","coordinates":[0,50]},"bbox":[0,50,0,50],\
          "crs":{"type":"name","properties":{"name":"EPSG:4326"}}}}}
          {"event":"110_completed","data":{"type":110}}
          {"event":"b_error","data":{"domain":"SCJavascriptBridgeErrorDomain","code":701,\
          "message":"no config names a backend"}}

          """)
      let array = try await server.ask("/bridge", "POST", body: #"[{"type":0},{"type":1}]"#)
      #expect(
        array.text == """
          {"event":"0_completed","data":{"type":0}}
          {"event":"1_completed","data":{"type":1}}

          """)
      #expect(try await server.ask("/bridge", "POST", body: "").status == 400)
      #expect(try await server.ask("/bridge").status == 404)
      #expect(try await server.ask("/bridge?session=x", "POST", body: query).status == 404)
      await server.close()
    }

    @Test func `a page listens for events, and sends messages beside them`() async throws {
      let server = try await AppServer()
      let program = try Program("curl", ["-sN", server.address + "/bridge/events"])
      try await program.wait(for: "a session") { program.outputSoFar.contains("\n\n") }
      let id = program.outputSoFar.dropFirst("event: session\ndata: ".count).dropLast(2)
      let sent = try await server.ask(
        "/bridge?session=\(id)", "POST", body: #"{"type":100,"responseId":"s"}"#)
      #expect(sent.status == 204 && sent.text.isEmpty)
      let delete = #"{"type":"v1/DELETE_SC_DATASTORE","payload":{"storeId":"field"}}"#
      _ = try await server.ask("/bridge?session=\(id)", "POST", body: delete)
      try await program.wait(for: "the list without the store") {
        program.outputSoFar.split(separator: "\n").contains {
          $0.contains(#"{"stores":[{"storeId":"FORM_STORE""#)
        }
      }
      await server.close()
      let result = try await program.result()
      #expect(result.status == 0)
      #expect(
        result.output.hasSuffix("data: {\"event\":\"s_completed\",\"data\":{\"type\":100}}\n\n"))
    }

    @Test func `pages of other sites, and other bundles, reach no bridge`() async throws {
      let server = try await AppServer()
      try await server.zip(
        "archive('a.zip', [('index.html', page)]); archive('b.zip', [('index.html', page)])")
      func key(_ name: String) async throws -> String {
        String(try await server.ask("/bundles/\(name)/").text.split(separator: "\"")[3])
      }
      let (a, b) = (try await key("a"), try await key("b"))
      #expect(a != b)
      let message = #"{"type":0}"#
      for origin in ["null", "https://evil.example", server.address + ".evil.example"] {
        let fields: HTTPFields = ["Origin": origin]
        for query in ["", "?key=", "?key=wrong"] {
          let answer = try await server.ask(
            "/bridge" + query, "POST", fields: fields, body: message)
          #expect(answer.status == 403, "\(origin) \(query)")
          #expect(try await server.ask("/bridge/events" + query, fields: fields).status == 403)
        }
        // A key opens the bridge, and nothing else.
        #expect(
          try await server.ask("/sync?key=\(a)", "POST", fields: fields, body: "{}").status == 403)
      }
      let answer = try await server.ask(
        "/bridge?key=\(a)", "POST", fields: ["Origin": "null"], body: message)
      #expect(answer.text == "{\"event\":\"0_completed\",\"data\":{\"type\":0}}\n")
      #expect(answer.fields["Access-Control-Allow-Origin"] == "*")
      let program = try Program("curl", ["-sN", server.address + "/bridge/events?key=\(a)"])
      try await program.wait(for: "a session") { program.outputSoFar.contains("\n\n") }
      let id = program.outputSoFar.dropFirst("event: session\ndata: ".count).dropLast(2)
      for (key, status) in [("&key=\(a)", 204), ("&key=\(b)", 404), ("", 404)] {
        let sent = try await server.ask("/bridge?session=\(id)\(key)", "POST", body: message)
        #expect(sent.status == status)
      }
      await server.close()
      _ = try await program.result()
    }

    @Test func `a server that only reads has a bridge that only reads`() async throws {
      let server = try await AppServer(isWritable: false)
      let answer = try await server.ask(
        "/bridge", "POST", body: #"{"type":116,"payload":"ZmllbGQ=.d2VsbHM=.MQ=="}"#)
      #expect(answer.text.contains("this bridge only reads"))
      #expect(try await server.store.count(Query("wells")) == 3)
      await server.close()
    }

    @Test(.enabled(if: chromium != nil, "there is no Chromium"))
    func `an old bundle runs in a browser`() async throws {
      let server = try await AppServer()
      // As the bundles of version 0.10 do: handlers by type and by response.
      let script = """
        document.addEventListener('WebViewJavascriptBridgeReady', function (event) {
          var bridge = event.bridge;
          bridge.init(function () {});
          bridge.registerHandler('110_2_1', function (answer) {
            var feature = answer.payload;
            feature.properties.name = 'seen by ' + self.origin;
            bridge.send({type: 115, payload: {feature: feature}});
          });
          var store = 'field';
          bridge.send({type: 110, payload: {filter: {limit: 1}, storeId: [store]}, responseId: '110_2_1'});
          // As those before: a callback.
          bridge.send({action: 100, payload: {}}, function (answer) {
            bridge.send({type: 114, payload: {feature: {type: 'Feature', geometry: null,
              properties: {name: answer.stores[0].storeId}, storeId: store, layerId: 'wells'}}});
          });
          fetch('data.json').then(function (r) { return r.json(); }).then(function (data) {
            bridge.send({type: 114, payload: {feature: {type: 'Feature', geometry: null,
              properties: {name: data.text}, storeId: store, layerId: 'wells'}}});
          });
          fetch('/collections').then(function (r) { return r.text(); }).then(
            function (text) { return 'read ' + text; }, function () { return 'blocked'; }
          ).then(function (text) {
            bridge.send({type: 114, payload: {feature: {type: 'Feature', geometry: null,
              properties: {name: text}, storeId: store, layerId: 'wells'}}});
          });
        });
        """
      let page = "<html><head><script src='main.js'></script></head><body></body></html>"
      _ = try server.folder.write(script, to: "main.js")
      _ = try server.folder.write(page, to: "index.html")
      try await server.zip(
        """
        archive('app.zip', [(name, open(sys.argv[1] + '/../' + name).read())
            for name in ('index.html', 'main.js')] + [('data.json', '{"text": "own data"}')])
        """)
      let browser = try Program(
        Self.chromium ?? "chromium",
        [
          "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
          "--no-first-run", "--user-data-dir=" + server.folder.file("profile").path,
          server.address + "/bundles/app/",
        ])
      var names: [String] = []
      while names.count < 6 {
        try await Task.sleep(for: .milliseconds(20))
        names = []
        for try await feature in try await server.store.query(Query("wells")).features {
          if case .text(let name)? = feature.attributes["name"] { names.append(name) }
        }
        if names.first != "seen by null" { names = [] }
      }
      browser.send(SIGKILL)
      _ = try? await browser.result()
      #expect(
        Set(names) == ["seen by null", "well 1", "well 2", "field", "own data", "blocked"])
      await server.close()
    }
  }
#endif
