import FuzzSupport

private let targets = FuzzTargets([
  "cql2": CQL2Target.cql2
])

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  targets.run(start, count)
}
