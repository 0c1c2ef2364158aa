import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackHTTP

@Suite(.programs) struct TLSTests {
  private static let script = """
    import http.server, ssl, subprocess, sys
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key",
                    "-out", "certificate"], check=True, stderr=subprocess.DEVNULL)
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_POST(self): print("asked", flush=True)
        def log_message(self, *words): pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("certificate", "key")
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    print(server.server_address[1], flush=True)
    server.handle_request()
    """

  @Test(.enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)))
  func `a certificate that nobody vouches for is refused`() async throws {
    let folder = try TemporaryFolder()
    let program = try Program(
      try #require(Programs.python), ["-c", Self.script], folder: folder.url)
    try await program.wait(for: "the port") { program.outputSoFar.hasSuffix("\n") }
    let port = try #require(Int(program.outputSoFar.dropLast()))
    let client = try HTTPClient(.unhurried)
    let error = await #expect(throws: FieldpackError.self) {
      try await client.send(
        HTTPRequest(.post, "https://localhost:\(port)/", body: .bytes(Array("secret".utf8))))
    }
    #expect(error?.httpFailure == .untrusted)
    let result = try await program.result()
    // Nothing was asked.
    #expect(result.output == "\(port)\n")
  }
}
