import FieldpackTestSupport
import Foundation
import Testing

#if Server
  /// An operator's whole session at the page, with the tool as server, as sensors and beside them.
  @Suite(.programs) struct OperatorSessionTests {
    private func simulate(_ types: String...) throws -> (Program, String) {
      let program = try Program(
        Tool.path,
        ["sensor", "simulate", "--listen", "127.0.0.1:0"] + types.flatMap { ["--submodality", $0] })
      try program.block(for: "its address") { program.outputSoFar.hasSuffix("\n") }
      let words = program.outputSoFar.split(whereSeparator: \.isWhitespace)
      return (program, String(words.last ?? ""))
    }

    @Test(
      .enabled(if: Programs.node != nil, Comment(rawValue: Programs.noNode)),
      .enabled(if: Programs.chromium != nil, Comment(rawValue: Programs.noChromium)))
    func `ten persons and forty items are captured at the page`() async throws {
      let folder = try TemporaryFolder()
      let file = folder.file("field.gpkg").path
      #expect(try await Tool.run("person", "add", file).status == 0)
      #expect(try await Tool.run("person", "delete", file, "1").status == 0)
      let (finger, fingerAddress) = try simulate("LeftSlap", "RightSlap", "ThumbsSlap")
      let (face, faceAddress) = try simulate("Face2d")
      let server = try Program(
        Tool.path,
        ["serve", "field.gpkg", "--writable", "--sensors", "--listen", "127.0.0.1:0"],
        folder: folder.url)
      try server.block(for: "its address") { server.outputSoFar.hasSuffix("sensors\n") }
      let line = server.outputSoFar.prefix { $0 != "\n" }
      let address = String(line.dropFirst("serving field.gpkg at ".count))
      let session = try await Program.run(
        try #require(Programs.node),
        ["--test", Checkout.file("Tests/Browser/session.test.mjs").path],
        environment: [
          "CHROMIUM": try #require(Programs.chromium), "ADDRESS": address,
          "FINGER": fingerAddress, "FACE": faceAddress, "TOOL": Tool.path, "FILE": file,
          "FOLDER": folder.url.path,
        ])
      #expect(session.status == 0, "\(session.output)\(session.error)")
      for program in [server, finger, face] {
        program.send(SIGTERM)
        #expect(try await program.result().status == 0)
      }
      #expect(try await Tool.run("check", file).status == 0)
    }
  }
#endif
