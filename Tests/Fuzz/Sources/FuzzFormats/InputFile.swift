import FieldpackCore
import FuzzSupport
import Glibc
import ShortReads

/// A file in memory that holds one input after the other.
final class InputFile {
  private let descriptor: Int32

  init() {
    descriptor = requireNoError("a file in memory") { () throws(FieldpackError) in
      try UnnamedFile.open(in: "/dev/shm")
    }
  }

  /// The input as readers take it, good until the next.
  func holding(_ bytes: [UInt8]) -> ByteInput {
    let isWritten =
      ftruncate(descriptor, 0) == 0
      && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
    require(isWritten, "the input cannot be put into the file: \(errno)")
    return requireNoError("the file") { () throws(FieldpackError) in
      try ByteInput(path: "/proc/self/fd/\(descriptor)")
    }
  }
}

/// Runs `body` while no read of a file gives more than `longest` bytes.
func withReads<T>(of longest: Int, _ body: () -> T) -> T {
  short_reads_limit(longest)
  defer { short_reads_limit(Int.max) }
  return body()
}
