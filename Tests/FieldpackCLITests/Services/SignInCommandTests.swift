import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack login`, `logout` and `whoami`.
@Suite(.programs) struct SignInCommandTests {
  private let survey: SurveyFolder
  private let server: LoopbackServer

  init() throws {
    survey = try SurveyFolder()
    server = try LoopbackServer { request in
      String(decoding: request.body, as: UTF8.self) == #"{"email":"me","password":"hush"}"#
        ? .text(200, #"{"result":{"token":"hidden.token.x"},"error":null}"#)
        : .text(401, #"{"result":null,"error":"no"}"#)
    }
    _ = try survey.folder.write(
      #"{"remote":{"http_host":"127.0.0.1","http_port":\#(server.port)}}"#, to: "team.scfg")
    _ = try survey.folder.write(
      #"{"remote":{"http_host":"127.0.0.1","auth":"no-auth"}}"#, to: "open.scfg")
    _ = try survey.folder.write("hush\nmore\n", to: "secret")
  }

  private var state: [String: String] { ["XDG_STATE_HOME": survey.folder.file("state").path] }

  private func run(_ arguments: String..., input: String? = nil) async throws -> [String] {
    let result = try await survey.run(arguments, input: input, environment: state)
    return [result.output, result.error, "\(result.status)"]
  }

  @Test func `who signs in by a descriptor is known until signing out`() async throws {
    let place = server.address
    #expect(
      try await run("whoami", "team.scfg") == ["nobody is signed in to \(place)\n", "", "1"])
    #expect(
      try await run("login", "team.scfg", "--user", "me", "--password-fd", "0", input: "hush\nx")
        == ["signed in to \(place) as me\n", "", "0"])
    #expect(
      try await run("whoami", "team.scfg") == ["me is signed in to \(place)\n", "", "0"])
    #expect(
      try await run("whoami", "team.scfg", "--json")[0]
        == #"{"source":"team.scfg","backend":"\#(place)","method":"server","#
        + #""status":"authenticated","user":"me","expires_at":null}"# + "\n")
    let services = try await run("services", "team.scfg")
    #expect(
      services == [
        """
        SC_SENSOR_SERVICE: running
        SC_DATA_SERVICE: running
        SC_CONFIG_SERVICE: running
        SC_AUTH_SERVICE: running (me at \(place))

        """, "", "0",
      ])
    #expect(try await run("logout", "team.scfg") == ["signed out of \(place)\n", "", "0"])
    #expect(try await run("whoami", "team.scfg")[2] == "1")
    #expect(server.requests.count == 1)
    let kept = survey.folder.file("state/fieldpack/tokens").path
    #expect(try FileManager.default.contentsOfDirectory(atPath: kept) == [])
  }

  @Test func `a token that is over is told so, or that it is renewed`() async throws {
    let kept = survey.folder.file("state/fieldpack/tokens")
    for (method, ending, status) in [
      ("", "the sign-in of me to \(server.address) is over; the token held until ", "1"),
      (
        #","auth":"exchange","client_id":"x""#,
        "me is signed in to \(server.address); the token is renewed when it is used\n", "0"
      ),
    ] {
      _ = try survey.folder.write(
        #"{"remote":{"http_host":"127.0.0.1","http_port":\#(server.port)\#(method)}}"#, to: "t.scfg"
      )
      let name = SHA256.hex(
        Array("\(server.address) \(method.isEmpty ? "server" : "exchange x")".utf8))
      try FileManager.default.createDirectory(
        at: kept, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      #expect(
        FileManager.default.createFile(
          atPath: kept.appendingPathComponent(name).path,
          contents: Data(
            (#"{"user":"me","token":"a","refresh_token":"b","received_at":"2020-01-01T00:00:00Z","#
              + #""expires_at":"2020-01-02T00:00:00Z"}"#).utf8),
          attributes: [.posixPermissions: 0o600]))
      let result = try await run("whoami", "t.scfg")
      #expect(result[0].hasPrefix(ending) && result[2] == status, "\(result)")
    }
  }

  @Test func `who is refused gets an error without the password`() async throws {
    for input in ["wrong\n", "wrong", "wrong\r\n"] {
      #expect(
        try await run("login", "team.scfg", "--user", "me", "--password-fd", "0", input: input)
          == ["", "fieldpack: 127.0.0.1 refuses the user or the password\n", "77"])
    }
    let bodies = Set(server.requests.map { String(decoding: $0.body, as: UTF8.self) })
    #expect(bodies == [#"{"email":"me","password":"wrong"}"#])
    #expect(
      try await run("login", "team.scfg", "--user", "me", "--password-fd", "0", input: "")
        == ["", "fieldpack: descriptor 0 gives nothing\n", "64"])
    let long = String(repeating: "x", count: 5_000)
    #expect(
      try await run("login", "team.scfg", "--user", "me", "--password-fd", "0", input: long)
        == ["", "fieldpack: the line from descriptor 0 is too long\n", "64"])
    let closed = try await run("login", "team.scfg", "--user", "me", "--password-fd", "99")
    #expect(
      closed == ["", "fieldpack: cannot read descriptor 99: Bad file descriptor\n", "74"])
  }

  @Test func `without a terminal the error says what to do`() async throws {
    // A session of its own has no terminal.
    let result = try await Program.run(
      "setsid", ["--wait", Tool.path, "login", "team.scfg", "--user", "me"], environment: state,
      folder: survey.folder.url)
    #expect(
      result.error == "fieldpack: there is no terminal to ask for the password at. "
        + "Try: --password-fd 0 <FILE\n")
    let user = try await Program.run(
      "setsid", ["--wait", Tool.path, "login", "team.scfg"], environment: state,
      folder: survey.folder.url)
    #expect(
      user.error == "fieldpack: there is no terminal to ask for the user at. Try: --user NAME\n")
    #expect([result.status, user.status] == [64, 64])
  }

  @Test func `a config without a backend, and one without users, are told`() async throws {
    #expect(
      try await run("login", "survey.scfg") == [
        "", "fieldpack: survey.scfg names no backend\n", "1",
      ])
    let open = ["nobody needs to sign in to http://127.0.0.1:8085\n", "", "0"]
    #expect(try await run("login", "open.scfg") == open)
    #expect(try await run("whoami", "open.scfg") == open)
    #expect(try await run("logout", "open.scfg") == open)
    #expect(server.requests.isEmpty)
  }

  @Test func `another machine is asked by https, or where that is allowed`() async throws {
    _ = try survey.folder.write(#"{"remote":{"http_host":"nowhere.invalid"}}"#, to: "far.scfg")
    let login = ["login", "far.scfg", "--user", "me", "--password-fd", "0"]
    let refused = try await survey.run(login, input: "hush", environment: state)
    #expect(
      refused.error.hasSuffix(
        "nowhere.invalid is asked by http, so that others on the way could read passwords, tokens "
          + "and features. Try: https in the config, or --insecure\n"))
    #expect(refused.status == 77)
    let asked = try await survey.run(
      login + ["--insecure"], input: "hush", environment: state)
    #expect(asked.status == 69 && !asked.error.contains("hush"))
    #expect(try await run("whoami", "far.scfg")[2] == "1")
  }

  @Test(
    .enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)),
    arguments: ["type", "descriptor", "interrupt", "interrupt twice", "terminate"])
  func `the terminal does not show the password, and shows again what is typed after it`(
    what: String
  ) async throws {
    let script = """
      import os, signal, sys, termios, time
      tool, config, what = sys.argv[1:]
      given = ["--user", "me", "--password-fd", "0"] if what == "descriptor" else []
      terminal, slave = os.openpty()
      child = os.fork()
      if child == 0:
          os.setsid()
          # The first terminal that a session opens is its own.
          os.close(os.open(os.ttyname(slave), os.O_RDWR))
          for standard in range(3): os.dup2(slave, standard)
          os.execv(tool, [tool, "login", config] + given)
      def echoes(): return bool(termios.tcgetattr(slave)[3] & termios.ECHO)
      seen = b""
      def until(text):
          global seen
          while text not in seen: seen += os.read(terminal, 1024)
      before = termios.tcgetattr(slave)
      if given:
          while echoes(): time.sleep(0.001)
      else:
          until(b"User for "); until(b": ")
          assert echoes()
          os.write(terminal, b"me\\n")
          until(b"Password of me")
      print(echoes())
      if what in ["type", "descriptor"]: os.write(terminal, b"hush\\n")
      elif what == "terminate": os.kill(child, signal.SIGTERM)
      else: os.write(terminal, b"\\x03\\x03" if "twice" in what else b"\\x03")
      status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
      print(echoes(), before == termios.tcgetattr(slave), status, b"hush" in seen)
      """
    let result = try await Program.run(
      try #require(Programs.python), ["-c", script, Tool.path, "team.scfg", what],
      environment: state, folder: survey.folder.url)
    let status = ["type": 0, "descriptor": 0, "terminate": 143][what] ?? 130
    #expect(result.output == "False\nTrue True \(status) False\n", "\(result.error)")
    #expect(server.requests.count == (status == 0 ? 1 : 0))
  }
}
