import Glibc

/// Reads an input and ends the process where a property does not hold.
public typealias FuzzTarget = @Sendable ([UInt8]) -> Void

/// The targets of a program, of which `FIELDPACK_FUZZ_TARGET` names the one that runs.
public struct FuzzTargets: Sendable {
  private let target: FuzzTarget

  public init(_ targets: [String: FuzzTarget]) {
    let name = getenv("FIELDPACK_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = targets[name] else {
      fatalError("FIELDPACK_FUZZ_TARGET is '\(name)', not one of \(targets.keys.sorted())")
    }
    self.target = target
  }

  /// Runs the target with an input of libFuzzer.
  public func run(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
}

/// Ends the process with `message` where the property does not hold.
public func require(
  _ holds: Bool, _ message: @autoclosure () -> String, file: StaticString = #file,
  line: UInt = #line
) {
  if !holds { fatalError(message(), file: file, line: line) }
}

/// What `body` gives, which has no reason to throw.
public func requireNoError<T, E: Error>(
  _ what: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line,
  _ body: () throws(E) -> T
) -> T {
  do throws(E) { return try body() } catch {
    fatalError("\(what()): \(error)", file: file, line: line)
  }
}
