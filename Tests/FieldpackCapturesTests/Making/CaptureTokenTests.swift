import FieldpackCore
import FieldpackField
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

@Suite struct CaptureTokenTests {
  private static let zero = "00000000-0000-0000-0000-000000000000"

  @Test func `tokens are the digests that are known`() throws {
    let install = try #require(MachineIdentity(Self.zero))
    let seconds: Int64 = 1_344_352_260
    #expect(
      CaptureToken(install: install, random: "abcdefghij", seconds: seconds).description
        == "f8d27bed75bd96014de63cad9951e1845beb28416cda478d7d2943b4f3346cae")
    #expect(
      CaptureToken(install: install, random: nil, seconds: seconds).description
        == "2953794fe678839951231e89bc2b1f9ea8006d370faade92d4a89357677d7380")
  }

  @Test func `a hundred thousand tokens of one second are all different`() throws {
    let making = CaptureMaking(identity: try #require(MachineIdentity(Self.zero)))
    let tokens = try (0..<100_000).map { _ in try making.token(at: 1_344_352_260.75) }
    #expect(Set(tokens).count == tokens.count)
    #expect(CaptureToken(tokens[0].description) == tokens[0])
  }

  @Test func `the random part is ten letters and digits`() {
    let characters = Set((0..<2000).flatMap { _ in CaptureToken.randomPart() })
    #expect(characters.count == 62)
    #expect(characters.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    #expect(CaptureToken.randomPart().count == 10)
  }

  @Test(arguments: [
    "", "f8d27b", String(repeating: "F", count: 64), String(repeating: "g", count: 64),
    String(repeating: "a", count: 63) + "/", String(repeating: "a", count: 65),
  ])
  func `a text that no token can be is none`(text: String) {
    #expect(CaptureToken(text) == nil)
  }

  @Test(arguments: [Double.nan, .infinity, 1e12, -1e300])
  func `there is no token of what is no time`(time: Double) throws {
    let making = CaptureMaking(identity: try #require(MachineIdentity(Self.zero)))
    let error = #expect(throws: FieldpackError.self) { try making.token(at: time) }
    #expect(error?.code == .invalidArgument)
  }
}
