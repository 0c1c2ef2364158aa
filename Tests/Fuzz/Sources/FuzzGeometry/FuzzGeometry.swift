import FuzzSupport

private let targets = FuzzTargets([
  "wkb": GeometryTargets.wkb, "blob": GeometryTargets.blob, "wkt": GeometryTargets.wkt,
])

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  targets.run(start, count)
}
