import FieldpackCore
import FieldpackLocation
import Testing

@Suite struct ScriptedSourceTests {
  private let near = Fix(longitude: 13.4, latitude: 52.5)
  private let far = Fix(longitude: 13.5, latitude: 52.6)

  private func read(_ source: ScriptedSource) async -> ([[LocationUpdate]], FieldpackError?) {
    var batches: [[LocationUpdate]] = []
    do throws(FieldpackError) {
      for try await batch in source.updates() { batches.append(batch) }
      return (batches, nil)
    } catch {
      return (batches, error)
    }
  }

  @Test func `each reading gives the whole script`() async {
    let source = ScriptedSource([near, far])
    for _ in 0..<2 {
      let (batches, failure) = await read(source)
      #expect(batches == [[.fix(near)], [.fix(far)]])
      #expect(failure == nil)
    }
  }

  @Test func `a failure comes after what was read`() async {
    let lost = FieldpackError(.unavailable, "the receiver is gone")
    let source = ScriptedSource([[.fix(near)], [], [.fix(far)]], failure: lost)
    let (batches, failure) = await read(source)
    #expect(batches == [[.fix(near)], [.fix(far)]])
    #expect(failure?.code == .unavailable)
  }

  @Test(arguments: LocationFailure.allCases)
  func `an error keeps why there are no positions`(failure: LocationFailure) {
    let error = FieldpackError(failure, "no fixes")
    #expect(error.locationFailure == failure)
    #expect(
      error.code.exitStatus
        == [
          .insufficientAuthorisation: 77, .permissionDenied: 77, .unavailable: 69, .aborted: 130,
        ][failure])
  }
}
